import Testing

@testable import ErrandOpenAPI

/// Values that schemas accept.
@Suite(.limited) struct SampleTests {
    private func sample(_ schema: String) -> String {
        let documents = Documents(
            load: load([
                "a.yaml":
                    "s: \(schema)\nd: {n: {type: object, required: [n], properties: {n: {$ref: '#/d/n'}}}}"
            ]))
        let schemas = SchemaReader(documents)
        let maker = SampleMaker(schemas: schemas, direction: .response)
        return maker.value(of: schemas.schema(at: Place(file: "a.yaml", pointer: "/s"))).json
    }

    @Test(arguments: [
        ("{type: string}", #""text""#), ("{type: string, minLength: 6}", #""textte""#),
        ("{type: string, maxLength: 2}", #""te""#),
        ("{type: string, pattern: '^AC[0-9a-f]{4}$'}", #""AC0000""#),
        ("{type: integer, minimum: 5}", "5"), ("{type: integer, exclusiveMinimum: 5}", "6"),
        ("{type: integer, minimum: 5, multipleOf: 4}", "8"),
        ("{type: number, maximum: 0.5}", "0.5"),
        ("{type: string, enum: [b, c]}", #""b""#), ("{const: 3}", "3"), ("{type: boolean}", "true"),
        ("{type: array, minItems: 2, items: {type: integer}}", "[1,1]"),
        (
            "{type: object, properties: {a: {type: string, writeOnly: true}, b: {type: string}}}",
            #"{"b":"text"}"#
        ),
        (
            "{allOf: [{properties: {a: {type: integer}}}, {properties: {b: {type: integer}}}]}",
            #"{"a":1,"b":1}"#
        ),
        ("{oneOf: [{type: integer}, {type: string}]}", "1"),
        ("{type: string, format: uuid}", #""123e4567-e89b-12d3-a456-426614174000""#),
        ("{type: string, example: own}", #""own""#),
    ])
    func valuesFollowTheRules(schema: String, json: String) { #expect(sample(schema) == json) }

    @Test func recursionEnds() { #expect(sample("{$ref: '#/d/n'}").count < 1000) }
}
