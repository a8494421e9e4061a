import Testing

@testable import ErrandOpenAPI

/// References, other files, and errors of documents.
@Suite(.limited) struct DocumentTests {
    @Test func referencesLeadToOtherFiles() {
        let output = generate(
            """
            paths:
              /pets:
                $ref: 'paths/pets.yaml#/list'
            """,
            files: [
                "paths/pets.yaml": """
                list:
                  get:
                    operationId: list_pets
                    responses:
                      '200':
                        description: ok
                        content:
                          application/json:
                            schema: {$ref: '../schemas.json#/Pet'}
                """,
                "schemas.json":
                    #"{"Pet": {"type": "object", "properties": {"name": {"type": "string"}}}}"#,
            ])
        #expect(output.faults.isEmpty)
        #expect(output.classes.contains("typealias Output = Pet\n"))
        #expect(
            output.models
                == "nonisolated struct Pet: Codable, Sendable {\n    var name: String?\n}\n")
    }

    @Test func errorsHaveLinesAndPointers() {
        let output = generate(
            """
            paths:
              /a:
                get:
                  responses:
                    '200': {$ref: '#/components/responses/None'}
                  parameters:
                    - {in: query}
            """)
        #expect(output.files.isEmpty)
        #expect(
            output.faults == [
                "openapi.yaml:8: error: The reference \"#/components/responses/None\" leads to nothing. "
                    + "(at #/paths/~1a/get/responses/200)",
                "openapi.yaml:10: error: A parameter needs a name and a place (`in`). "
                    + "(at #/paths/~1a/get/parameters/0)",
            ])
    }

    @Test func aCircleOfReferencesIsAnError() {
        let output = generate(
            """
            paths: {}
            components:
              responses: {A: {$ref: '#/components/responses/A'}}
              schemas: {B: {$ref: '#/components/schemas/None'}}
            """)
        #expect(output.faults.count == 1)
        #expect(output.faults.first?.contains("leads to nothing") == true)
    }

    @Test(arguments: [
        ("swagger: '2.0'", "Swagger 2.0"), ("openapi: 4.0.0", "not supported"), ("[]", "`openapi`"),
    ])
    func otherDocumentsAreRefused(text: String, words: String) {
        let generator = Generator(load: load(["a.yaml": text]))
        let output = generator.generate("a.yaml")
        #expect(output.hasErrors)
        #expect(output.problems.contains { $0.message.contains(words) })
    }

    @Test func aMissingFileIsAnError() {
        let output = Generator(load: load([:])).generate("a.yaml")
        #expect(output.problems.map(\.file) == ["a.yaml"])
    }

    @Test func repeatedKeysAreErrors() {
        let generator = Generator(
            load: load(["a.json": "{\"openapi\": \"3.0.0\",\n\"paths\": {},\n\"paths\": {}}"]))
        let output = generator.generate("a.json")
        #expect(
            output.faults == [
                "a.json:3: error: The key \"paths\" occurs twice in this object. (at #)"
            ])
    }

    @Test func whatCannotBeGeneratedIsRefusedByName() {
        let output = generate(
            """
            paths:
              /good: {get: {operationId: good, responses: {'204': {description: ok}}}}
              /bad/{id}: {get: {operationId: bad, responses: {'204': {description: ok}}}}
              /list:
                get:
                  operationId: lists
                  parameters: [{name: q, in: query, schema: {type: array, items: {type: object}}}]
                  responses: {'204': {description: ok}}
            """)
        #expect(output.operations == 3)
        #expect(output.endpoints == 1)
        #expect(
            output.faults == [
                "openapi.yaml:6: refused: Bad (GET /bad/{id}): The path has {id}, but there is no such path "
                    + "parameter. (at #/paths/~1bad~1{id}/get)",
                "openapi.yaml:10: refused: Lists (GET /list): The parameter q is a list of objects or lists, for "
                    + "which OpenAPI defines no form. (at #/paths/~1list/get/parameters/0)",
            ])
    }

    @Test func operationsAreFiltered() {
        let document = """
            paths:
              /a: {get: {operationId: a, tags: [x], responses: {'204': {description: ok}}}}
              /b: {get: {operationId: b, tags: [y], responses: {'204': {description: ok}}}}
              /c/d: {get: {operationId: c, responses: {'204': {description: ok}}}}
            components: {schemas: {Unused: {type: object, properties: {a: {type: string}}}}}
            """
        func names(_ change: (inout Generator.Options) -> Void) -> [String] {
            let text = generate(document, change).classes
            return ["A", "B", "C"].filter { text.contains("class \($0):") }
        }
        #expect(names { _ in } == ["A", "B", "C"])
        #expect(names { $0.tags = ["x"] } == ["A"])
        #expect(names { $0.paths = ["/c"] } == ["C"])
        #expect(names { $0.operations = ["b"] } == ["B"])
        #expect(generate(document).types == 1)
        #expect(generate(document) { $0.tags = ["x"] }.types == 0)
    }
}
