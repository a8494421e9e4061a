import Testing

@testable import ErrandOpenAPI

/// Responses of a fake service, and its checks of requests.
@Suite(.limited) struct FakeServiceTests {
    private func service() throws -> FakeService {
        let text = """
            openapi: 3.1.0
            info: {title: Shop, version: '1'}
            servers: [{url: 'https://shop.example/v1'}]
            paths:
              /pets/{id}:
                get:
                  parameters:
                    - {name: id, in: path, required: true, schema: {type: integer, minimum: 1}}
                    - {name: kinds, in: query, required: true, explode: false, schema: {type: array, items: {enum: [a, b]}}}
                  responses:
                    '200': {description: ok, content: {application/json: {schema: {$ref: '#/components/schemas/Pet'}}}}
                put:
                  parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
                  requestBody:
                    required: true
                    content: {application/json: {schema: {$ref: '#/components/schemas/Pet'}}}
                  responses: {'204': {description: ok}}
              /pets/best:
                get: {responses: {'200': {description: ok, content: {application/json: {example: {name: Rex}}}}}}
            components:
              schemas:
                Pet:
                  type: object
                  required: [id, name]
                  additionalProperties: false
                  properties: {id: {type: integer, readOnly: true}, name: {type: string, maxLength: 4}}
            """
        return try #require(FakeService.read("a.yaml", load: load(["a.yaml": text])).service)
    }

    private func response(
        _ method: String, _ path: String, query: String = "", body: String = "",
        type: String = "application/json"
    ) throws -> FakeService.Response {
        let headers = body.isEmpty ? [:] : ["content-type": type]
        return try service().respond(
            to: .init(
                method: method, path: path, query: query, headers: headers, body: Array(body.utf8)))
    }

    @Test func valuesOfTheSchemaAndExamples() throws {
        let pet = try response("GET", "/v1/pets/7", query: "kinds=a,b")
        #expect(pet.status == 200)
        #expect(pet.text == #"{"id":1,"name":"text"}"#)
        #expect(try response("GET", "/v1/pets/best").text == #"{"name":"Rex"}"#)
        #expect(try response("PUT", "/v1/pets/7", body: #"{"name":"Rex"}"#).status == 204)
    }

    @Test(arguments: [
        ("GET", "/v1/pets/0", "kinds=a", "", 400, "the number contradicts minimum 1"),
        ("GET", "/v1/pets/x", "kinds=a", "", 400, "expected integer, found a string"),
        ("GET", "/v1/pets/1", "", "", 400, "the query parameter kinds is missing"),
        ("GET", "/v1/pets/1", "kinds=a,c", "", 400, "$[1]: the value is none of the enumeration"),
        ("PUT", "/v1/pets/1", "", "", 400, "the body is missing"),
        ("PUT", "/v1/pets/1", "", "{", 400, "the body is not JSON, line 1"),
        ("PUT", "/v1/pets/1", "", "{}", 400, "$: the member name is missing"),
        ("PUT", "/v1/pets/1", "", #"{"name":"Rexxy"}"#, 400, "more than 4 characters"),
        ("PUT", "/v1/pets/1", "", #"{"name":"Rex","x":1}"#, 400, "the member x is not allowed"),
        ("POST", "/v1/pets/1", "", "", 405, "no operation POST"),
        ("GET", "/v1/cows", "", "", 404, "no path /v1/cows"),
    ])
    func contradictionsAreNamed(
        method: String, path: String, query: String, body: String, status: Int, words: String
    ) throws {
        let response = try response(method, path, query: query, body: body)
        #expect(response.status == status)
        #expect(response.text.contains(words), "\(response.text)")
    }

    @Test func formsAndCredentialsAreChecked() throws {
        let text = """
            openapi: 3.0.3
            info: {title: Shop, version: '1'}
            security: [{key: []}]
            components: {securitySchemes: {key: {type: apiKey, in: header, name: X-Key}}}
            paths:
              /a:
                post:
                  requestBody:
                    content:
                      application/x-www-form-urlencoded:
                        schema: {type: object, required: [n], properties: {n: {type: integer, format: int32}, on: {type: string, format: date}}}
                  responses: {'204': {description: ok}}
            """
        let service = try #require(FakeService.read("a.yaml", load: load(["a.yaml": text])).service)
        func status(_ body: String, key: String? = "k") -> Int {
            var headers = ["content-type": "application/x-www-form-urlencoded"]
            headers["x-key"] = key
            return service.respond(
                to: .init(method: "POST", path: "/a", headers: headers, body: Array(body.utf8))
            ).status
        }
        #expect(status("n=1&on=2024-02-29") == 204)
        #expect(status("n=1", key: nil) == 401)
        #expect(status("on=2024-02-29") == 400)
        #expect(status("n=x") == 400)
        #expect(status("n=2147483648") == 400)
        #expect(status("n=1&on=2023-02-29") == 400)
    }

    @Test func partsOfFormsAreChecked() throws {
        let text = """
            openapi: 3.0.3
            info: {title: Shop, version: '1'}
            paths:
              /a:
                post:
                  requestBody:
                    content:
                      multipart/form-data:
                        schema:
                          type: object
                          required: [file, count, tags]
                          properties:
                            file: {type: string, format: binary}
                            count: {type: integer, maximum: 9}
                            tags: {type: array, maxItems: 2, items: {type: string, enum: [a, b]}}
                            place: {type: object, required: [x], properties: {x: {type: number}}}
                  responses: {'204': {description: ok}}
            """
        let service = try #require(FakeService.read("a.yaml", load: load(["a.yaml": text])).service)
        func faults(_ parts: [(head: String, text: String)], end: String = "--b--\r\n") -> String {
            let body = parts.map {
                "--b\r\nContent-Disposition: form-data; \($0.head)\r\n\r\n\($0.text)\r\n"
            }
            let response = service.respond(
                to: .init(
                    method: "POST", path: "/a",
                    headers: ["content-type": "multipart/form-data; boundary=\"b\""],
                    body: Array((body.joined() + end).utf8)))
            return response.status == 204 ? "" : response.text
        }
        let file = (head: #"name="file"; filename="f.bin""#, text: "no --b\r\n-")
        let count = (head: "name=count", text: "3")
        #expect(faults([file, count]) == "")
        #expect(faults([file, count, ("name=tags", "a"), ("name=tags", "b")]) == "")
        let json = "name=place\r\nContent-Type: application/json"
        #expect(faults([file, count, (json, #"{"x": 1}"#)]) == "")
        #expect(faults([file]).contains("the member count is missing"))
        #expect(faults([file, ("name=count", "10")]).contains("$.count: the number contradicts"))
        #expect(faults([file, ("name=count", "x")]).contains("$.count: expected integer"))
        #expect(faults([file, count, ("name=tags", "c")]).contains("$.tags[0]"))
        #expect(faults([file, count, (json, "{}")]).contains("$.place: the member x is missing"))
        #expect(faults([file, count, (json, "{")]).contains("$.place: the part is not JSON"))
        #expect(faults([file, count], end: "").contains("boundary"))
        #expect(faults([(head: "filename=x", text: "")]).contains("boundary"))
    }

    @Test func anotherContentTypeIsRefused() throws {
        let response = try response("PUT", "/v1/pets/1", body: "a=b", type: "text/plain")
        #expect(
            response.text.contains(
                "the content type of the body is text/plain, not application/json"))
    }
}
