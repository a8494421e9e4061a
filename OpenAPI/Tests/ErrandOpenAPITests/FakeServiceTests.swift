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

    /// What is wrong with a request to `/a…`, by the parameters of the operation; empty for a response.
    private func faults(
        _ parameters: String, path: String = "", query: String = "",
        headers: [String: String] = [:], template: String = ""
    ) throws -> String {
        let text = """
            openapi: 3.1.0
            info: {title: Shop, version: '1'}
            paths:
              /a\(template):
                get: {parameters: [\(parameters)], responses: {'204': {description: ok}}}
            components:
              schemas:
                Color: {type: object, required: [R], additionalProperties: false, properties: {R: {type: integer}, G: {type: integer}}}
            """
        let service = try #require(FakeService.read("a.yaml", load: load(["a.yaml": text])).service)
        let response = service.respond(
            to: .init(method: "GET", path: "/a" + path, query: query, headers: headers))
        return response.status == 204 ? "" : response.text
    }

    private static let list = "{type: array, maxItems: 2, items: {type: string, maxLength: 3}}"
    private static let color = "{$ref: '#/components/schemas/Color'}"

    @Test(arguments: [
        ("", list, "/a%2Cb,c", "/a,b,c", "more than 2 items"),
        ("", color, "/R,1,G,2", "/R,x", "$.R: expected integer"),
        ("explode: true", color, "/R=1,G=2", "/G=1", "the member R is missing"),
        ("style: label", "{type: integer}", "/.7", "/7", "no path"),
        ("style: label", list, "/.a%2Cb,c", "/.abcd", "more than 3"),
        ("style: label, explode: true", list, "/.a.b", "/.a.b.c", "more than 2 items"),
        ("style: label, explode: true", color, "/.R=1.G=2", "/.R=1.B=2", "B is not allowed"),
        ("style: matrix", "{type: string}", "/;p=x", "/;q=x", "does not begin with ;p="),
        ("style: matrix", list, "/;p=a,b", "/;p=a,b,c", "more than 2 items"),
        ("style: matrix, explode: true", list, "/;p=a;p=b", "/;p=a;p=b;p=c", "more than 2 items"),
        ("style: matrix", color, "/;p=R,1,G,2", "/;p=G,2", "the member R is missing"),
        ("style: matrix, explode: true", color, "/;R=1;G=2", "/;R=1;G=x", "$.G: expected integer"),
        ("content", color, "/%7B%22R%22%3A1%7D", "/%7B%7D", "the member R is missing"),
        ("content", color, "/%7B%22R%22:1%7D", "/%7B", "the value is not JSON"),
    ])
    func stylesOfThePath(
        style: String, schema: String, good: String, bad: String, words: String
    ) throws {
        let rule =
            style == "content"
            ? "content: {application/json: {schema: \(schema)}}"
            : "schema: \(schema)" + (style.isEmpty ? "" : ", \(style)")
        let parameter = "{name: p, in: path, required: true, \(rule)}"
        #expect(try faults(parameter, path: good, template: "/{p}") == "")
        #expect(try faults(parameter, path: bad, template: "/{p}").contains(words))
    }

    @Test func severalValuesOfASegment() throws {
        let parameters =
            "{name: n, in: path, required: true, schema: {type: integer}}, "
            + "{name: e, in: path, required: true, style: label, schema: {enum: [txt, pdf]}}"
        #expect(try faults(parameters, path: "/7.txt", template: "/{n}{e}") == "")
        #expect(try faults(parameters, path: "/7.csv", template: "/{n}{e}").contains("parameter e"))
        #expect(try faults(parameters, path: "/7", template: "/{n}{e}").contains("no path"))
    }

    @Test(arguments: [
        ("in: query, required: true, explode: false", "p=R,1,G,2", "p=G,1"),
        ("in: query, required: true", "R=1&G=2", "G=1"),
        ("in: query, required: true, style: deepObject", "p[R]=1&p%5BG%5D=2", "p[R]=x"),
        ("in: query, style: pipeDelimited, explode: false", "p=R%7C1", "p=R%7Cx"),
        ("in: query, required: true, content", "p=%7B%22R%22:1%7D", ""),
        ("in: query, content", "", "p=%7B%22R%22:true%7D"),
    ])
    func objectsOfTheQuery(parameter: String, good: String, bad: String) throws {
        let rule =
            parameter.hasSuffix("content")
            ? "\(parameter): {application/json: {schema: \(Self.color)}}"
            : "\(parameter), schema: \(Self.color)"
        #expect(try faults("{name: p, \(rule)}", query: good) == "")
        #expect(try faults("{name: p, \(rule)}", query: bad).contains("the query parameter p"))
    }

    @Test func anEmptyTextIsAnEmptyList() throws {
        let list = "{type: array, maxItems: 1, items: {enum: [a, b]}}"
        let parameter = "{name: p, in: query, required: true, explode: false, schema: \(list)}"
        #expect(try faults(parameter, query: "p=") == "")
        #expect(try faults(parameter, query: "p=a,b").contains("more than 1"))
        #expect(try faults(parameter, query: "p=a,").contains("more than 1"))
    }

    @Test func objectsOfHeadersAndCookies() throws {
        let json = "content: {application/json: {schema: \(Self.color)}}"
        let header = "{name: X-P, in: header, required: true, schema: \(Self.color)}"
        #expect(try faults(header, headers: ["x-p": "R,1"]) == "")
        #expect(try faults(header, headers: ["x-p": "G,1"]).contains("R is missing"))
        #expect(try faults("{name: X-P, in: header, \(json)}", headers: ["x-p": "{}"]) != "")
        let cookie = "{name: p, in: cookie, \(json)}"
        #expect(try faults(cookie, headers: ["cookie": "p=%7B%22R%22%3A1%7D"]) == "")
        #expect(try faults(cookie, headers: ["cookie": "p=%7B%7D"]).contains("R is missing"))
    }

    @Test func valuesOfSeveralTypes() throws {
        let parameter =
            "{name: p, in: query, schema: {oneOf: [{type: integer}, {type: string, pattern: '%$'}]}}"
        #expect(try faults(parameter, query: "p=5") == "")
        #expect(try faults(parameter, query: "p=5%25") == "")
        #expect(try faults(parameter, query: "p=x").contains("none of oneOf"))
        let list =
            "{name: p, in: query, schema: {anyOf: [{type: string, maxLength: 3}, \(Self.list)]}}"
        #expect(try faults(list, query: "p=7") == "")
        #expect(try faults(list, query: "p=7&p=b") == "")
    }

    @Test func fieldsWithBracketsAreObjects() throws {
        let text = """
            openapi: 3.0.3
            info: {title: Shop, version: '1'}
            paths:
              /a:
                post:
                  requestBody:
                    content:
                      application/x-www-form-urlencoded:
                        schema:
                          type: object
                          properties:
                            address: {type: object, required: [zip], properties: {zip: {type: integer}}}
                            items: {type: array, items: {type: object, required: [price], properties: {price: {type: number}}}}
                            expand: {type: array, items: {type: string}}
                            metadata: {anyOf: [{type: object, additionalProperties: {type: string}}, {type: string, enum: ['']}]}
                  responses: {'204': {description: ok}}
            """
        let service = try #require(FakeService.read("a.yaml", load: load(["a.yaml": text])).service)
        func faults(_ body: String) -> String {
            let response = service.respond(
                to: .init(
                    method: "POST", path: "/a",
                    headers: ["content-type": "application/x-www-form-urlencoded"],
                    body: Array(body.utf8)))
            return response.status == 204 ? "" : response.text
        }
        #expect(
            faults("address[zip]=7&items[0][price]=1.5&items[1][price]=2&expand[]=a&expand[]=b")
                == "")
        #expect(faults("metadata[a]=1&metadata[b]=x&expand=a") == "")
        #expect(faults("metadata=") == "")
        #expect(faults("address[zip]=x").contains("$.address.zip: expected integer"))
        #expect(faults("items[0][price]=1&items[1][price]=x").contains("$.items[1].price"))
        #expect(faults("items[0][a]=1").contains("the member price is missing"))
    }

    @Test(arguments: [
        ("lines[0][n]=1&lines[1][n]=2&lines[1][t][0]=a", "ids=1,2", 204, ""),
        ("lines[0][n]=x", "ids=1", 400, "$[0].n: expected integer"),
        ("", "ids=1", 400, "the query parameter lines is missing"),
        ("lines[0][n]=1", "ids=1,x", 400, "$.ids[1]: expected integer"),
        ("lines[0][n]=1", "tax[0][v]=x", 400, "$.tax[0].v: expected integer"),
    ])
    func listsWithPositionsAndCommasAreRead(
        query: String, body: String, status: Int, words: String
    ) throws {
        let text = """
            openapi: 3.0.3
            info: {title: Shop, version: '1'}
            paths:
              /orders:
                post:
                  parameters:
                    - name: lines
                      in: query
                      required: true
                      style: deepObject
                      schema:
                        type: array
                        minItems: 1
                        items: {type: object, properties: {n: {type: integer}, t: {type: array, items: {type: string}}}}
                  requestBody:
                    content:
                      application/x-www-form-urlencoded:
                        encoding: {ids: {explode: false}, tax: {style: deepObject}}
                        schema:
                          type: object
                          properties:
                            ids: {type: array, items: {type: integer}}
                            tax: {type: array, items: {type: object, properties: {v: {type: integer}}}}
                  responses: {'204': {description: ok}}
            """
        let read = FakeService.read("a.yaml", load: load(["a.yaml": text]))
        let service = try #require(read.service)
        let response = service.respond(
            to: .init(
                method: "POST", path: "/orders", query: query,
                headers: ["content-type": "application/x-www-form-urlencoded"],
                body: Array(body.utf8)))
        #expect(response.status == status, "\(response.text)")
        #expect(response.text.contains(words) || words.isEmpty, "\(response.text)")
    }
}
