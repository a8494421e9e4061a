import Testing

@testable import ErrandOpenAPI

/// Endpoints of operations: one feature in each test.
@Suite(.limited) struct EndpointTests {
    /// Generates from the members of one operation, as YAML.
    private func endpoint(
        _ operation: String, path: String = "/things", method: String = "get",
        components: String = "",
        _ change: (inout Generator.Options) -> Void = { _ in }
    ) -> Generator.Output {
        let lines = operation.split(separator: "\n", omittingEmptySubsequences: false)
        let indented = lines.map { "      " + $0 }.joined(separator: "\n")
        let responses =
            operation.contains("responses:") ? "" : "\n      responses: {'204': {description: ok}}"
        let output = generate(
            "paths:\n  \(path):\n    \(method):\n      operationId: do\n\(indented)\(responses)\n\(components)",
            change)
        #expect(output.faults.isEmpty)
        return output
    }

    @Test func parametersInAllPlaces() {
        let output = endpoint(
            """
            parameters:
              - {name: id, in: path, required: true, schema: {type: string}}
              - {name: day, in: path, required: true, schema: {type: string, format: date-time}}
              - {name: page, in: query, required: true, schema: {type: integer}, description: The page}
              - {name: url, in: query, schema: {type: string}}
              - {name: X-Count, in: header, schema: {type: integer}}
              - {name: Accept, in: header, schema: {type: string}}
              - {name: sid, in: cookie, schema: {type: string}}
            """, path: "/things/{id}/at/{day}")
        #expect(
            output.classes == """
                /// GET `/things/{id}/at/{day}`.
                final class Do: ShopRequest, VoidOutput {
                    let id: String
                    let day: Date
                    /// The page.
                    let page: Int
                    let urlParameter: String?
                    let xCount: Int?
                    let sid: String?

                    init(
                        id: String,
                        day: Date,
                        page: Int,
                        urlParameter: String? = nil,
                        xCount: Int? = nil,
                        sid: String? = nil
                    ) {
                        self.id = id
                        self.day = day
                        self.page = page
                        self.urlParameter = urlParameter
                        self.xCount = xCount
                        self.sid = sid
                    }

                    override var url: EndpointURL { "things/\\(id)/at/\\(day.formatted(.iso8601))" }
                    override var arguments: Arguments? { ["page": page, "url": urlParameter] }
                    override var headers: HTTPFields {
                        var headers = super.headers
                        headers[.custom("X-Count")] = xCount.map { "\\($0)" }
                        headers[.cookie] = sid.map { "sid=\\($0)" }
                        return headers
                    }
                }

                """)
        #expect(output.problems.contains { $0.kind == .note && $0.message.contains("Accept") })
    }

    @Test(arguments: [
        ("{name: a, in: query, schema: {type: array, items: {type: string}}}", "[\"a\": a]", false),
        (
            "{name: a, in: query, explode: false, schema: {type: array, items: {type: string}}}",
            "[\"a\": a]", true
        ),
        (
            "{name: a, in: query, style: pipeDelimited, explode: false, schema: {type: array, items: {type: integer}}}",
            #"["a": a?.map { "\($0)" }.joined(separator: "|")]"#, false
        ),
        (
            "{name: a, in: query, style: deepObject, schema: {type: object, properties: {b: {type: string}}}}",
            "[\"a\": a.map { Arguments(encoding: $0) }]", false
        ),
    ])
    func stylesOfTheQuery(parameter: String, expression: String, isComma: Bool) {
        let text = endpoint("parameters:\n  - \(parameter)").classes
        #expect(text.contains("override var arguments: Arguments? { \(expression) }\n"))
        #expect(text.contains("request.encoding?.arrays = .comma\n") == isComma)
    }

    @Test func membersOfAnObjectAreArguments() {
        let text = endpoint(
            "parameters:\n  - {name: a, in: query, schema: {type: object, properties: {b: {type: string}}}}"
        ).classes
        let line =
            "    override var arguments: Arguments? { a.map { Arguments(encoding: $0) } }\n"
        #expect(text.contains(line))
    }

    @Test(arguments: [
        ("application/json", "{type: string}", "override var body: HTTPBody? { .json(content) }"),
        (
            "text/plain", "{type: string}",
            #"override var body: HTTPBody? { .string(text, contentType: "text/plain") }"#
        ),
        ("image/png", "{type: string, format: binary}", "override var body: HTTPBody? { content }"),
        (
            "application/merge-patch+json", "{}",
            #"body.contentType = "application/merge-patch+json""#
        ),
        ("multipart/form-data", "{}", "override var body: HTTPBody? { .multipart(parts) }"),
    ])
    func bodiesByContentType(type: String, schema: String, line: String) {
        let text = endpoint(
            "requestBody: {required: true, content: {'\(type)': {schema: \(schema)}}}",
            method: "post"
        ).classes
        #expect(text.contains(line))
        #expect(text.contains("    override var method: HTTPMethod { .post }\n"))
    }

    @Test func formsHaveTheirFieldsAsArguments() {
        let text = endpoint(
            """
            requestBody:
              content:
                application/x-www-form-urlencoded:
                  schema: {type: object, required: [To], properties: {To: {type: string}, Body: {type: string}}}
            """, method: "post"
        ).classes
        #expect(text.contains("init(to: String, bodyField: String? = nil) {"))
        #expect(
            text.contains(#"override var arguments: Arguments? { ["To": to, "Body": bodyField] }"#))
    }

    @Test func partsOfMultipartBodies() {
        let output = endpoint(
            """
            requestBody:
              content:
                multipart/form-data:
                  schema:
                    type: object
                    required: [file, names]
                    properties:
                      file: {type: string, format: binary}
                      names: {type: array, items: {type: string}}
                      more: {type: array, items: {type: string, format: binary}}
                      info: {type: object, properties: {a: {type: string}}}
                      count: {type: integer}
            """, method: "post")
        #expect(
            output.classes.contains(
                """
                        var parts: [HTTPBody.Part] = []
                        parts.append(file.named("file"))
                        for item in names { parts.append(.text("names", item)) }
                        for item in more ?? [] { parts.append(item.named("more")) }
                        if let info { parts.append(.json("info", info)) }
                        if let count { parts.append(.text("count", "\\(count)")) }
                        return .multipart(parts)
                """))
        #expect(
            output.files.contains {
                $0.name == "ShopSupport.swift" && $0.text.contains("func named(")
            })
    }

    @Test(arguments: [
        (
            "{'204': {description: ok}}", "VoidOutput",
            "override var url: EndpointURL { \"things\" }\n"
        ),
        (
            "{'200': {description: ok, content: {application/json: {schema: {type: integer}}}}}",
            "DecodableOutput", "typealias Output = Int\n"
        ),
        (
            "{'200': {description: ok, content: {application/json: {schema: {type: integer}}}}, '204': {description: no}}",
            "DecodableOutput", "typealias Output = Int?\n"
        ),
        (
            "{'200': {description: ok, content: {text/csv: {}}}}", "TypedRequest",
            "var decoder: ResponseDecoder<String> { .string }\n"
        ),
        (
            "{default: {description: ok, content: {image/png: {}}}}", "TypedRequest",
            "var decoder: ResponseDecoder<Data> { .data }\n"
        ),
        (
            "{'200': {description: ok, content: {application/json: {schema: {type: integer}}}}, '201': {description: ok, content: {application/json: {schema: {type: string}}}}}",
            "TypedRequest", "            default: .created(try response.decode(String.self))\n"
        ),
    ])
    func outputs(responses: String, parent: String, line: String) {
        let text = endpoint("responses: \(responses)").classes
        #expect(text.contains("final class Do: ShopRequest, \(parent) {"))
        #expect(text.contains(line))
    }

    @Test func errorsByStatus() {
        let error = "content: {application/json: {schema: {$ref: '#/components/schemas/E'}}}"
        let components = """
            components:
              schemas:
                E: {type: object, properties: {a: {type: string}}}
                F: {type: object, properties: {b: {type: string}}}
            """
        let common = endpoint(
            "responses: {'204': {description: ok}, default: {description: no, \(error)}}",
            components: components)
        #expect(
            common.text("Shop.swift").contains(
                "override var errorDecoder: ErrorDecoder? { .json(E.self) }"))
        #expect(!common.classes.contains("errorDecoder"))
        let two = endpoint(
            """
            responses:
              '204': {description: ok}
              4XX: {description: no, \(error)}
              '404': {description: no, content: {application/json: {schema: {$ref: '#/components/schemas/F'}}}}
            """, components: components)
        #expect(
            two.classes.contains(
                """
                            case 404: try response.decode(F.self)
                            case 400...499: try response.decode(E.self)
                            default: nil
                """))
    }

    @Test func securitySchemes() {
        let output = generate(
            """
            security: [{key: []}]
            paths:
              /a: {get: {operationId: a, responses: {'204': {description: ok}}}}
              /b: {get: {operationId: b, security: [], responses: {'204': {description: ok}}}}
              /c: {get: {operationId: c, security: [{admin: []}], responses: {'204': {description: ok}}}}
              /d: {get: {operationId: d, security: [{key: []}, {login: []}], responses: {'204': {description: ok}}}}
            components:
              securitySchemes:
                key: {type: apiKey, in: query, name: api_key}
                login: {type: openIdConnect, openIdConnectUrl: 'https://shop.example/.well-known'}
                admin: {type: http, scheme: basic}
            """)
        let service = output.text("Shop.swift")
        #expect(
            service.contains("static let agent = RequestAgent(configuration: configuration())\n"))
        #expect(
            service.contains(
                "static let adminAgent = RequestAgent(configuration: configuration())\n"))
        #expect(service.contains(#"static var hosts: HostPattern { "shop.example" }"#))
        #expect(service.contains(#"StandardAuthenticator.apiKey(key, in: .query("api_key"))"#))
        #expect(
            service.contains(
                "static func admin(user: String, password: String) -> some Authenticator {"))
        #expect(service.contains("StandardAuthenticator.bearer(token: token, refresh: refresh)"))
        let parts = output.classes.split(separator: "final class ")
        #expect(parts.count == 5)
        #expect(parts.filter { $0.contains("uses.remove(.authenticators)") }.count == 1)
        #expect(parts.filter { $0.contains("agent: RequestAgent { Shop.adminAgent }") }.count == 1)
    }

    /// A service does not get the name of a type that the output uses, and neither does its base class.
    @Test(arguments: [
        ("Pagination", "PaginationAPI"), ("The Base API", "BaseAPI"), ("JSON", "Json"),
        ("Shop\\0", "Shop"), ("API", "Service"),
    ])
    func serviceHasANameOfItsOwn(title: String, name: String) {
        let document = """
            openapi: 3.1.0
            info: {title: "\(title)", version: '1'}
            paths: {/a: {get: {responses: {'204': {description: ok}}}}}
            """
        let output = Generator(load: load(["a.yaml": document])).generate("a.yaml")
        let text = output.files.map(\.text).joined()
        #expect(text.contains("nonisolated enum \(name) {") && !text.contains("\0"))
        #expect(text.contains("class \(name)Request: BaseRequest {"))
    }

    /// A form without parts has no files.
    @Test func binaryFieldsOfFormsAreText() {
        let output = generate(
            """
            paths:
              "/a\\0b":
                post:
                  requestBody:
                    content:
                      application/x-www-form-urlencoded:
                        schema: {type: object, properties: {payload: {type: string, format: binary}}}
                  responses: {'204': {description: ok}}
            """)
        #expect(output.classes.contains("let payload: String?") && !output.classes.contains("\0"))
        #expect(output.faults == [])
    }

    @Test func responsesWithoutAStatusAreLeftOut() {
        let error = "{description: no, content: {application/json: {schema: {type: string}}}}"
        let output = generate(
            """
            paths:
              /a:
                get:
                  responses: {'200': {description: ok}, 1000: \(error), error: \(error), 99: \(error), 4xx: \(error), 2X0: \(error)}
            """)
        #expect(output.problems.count { $0.description.contains("is neither a status") } == 4)
        #expect(output.classes.contains(".json(String.self)"))
    }

    @Test func serversHaveVariables() {
        let generator = Generator(
            load: load([
                "a.yaml": """
                openapi: 3.0.3
                info: {title: The Shop API, version: 1.0.0}
                servers:
                  - url: https://{shop}.example.com:{port}/{base}
                    variables:
                      shop: {default: demo}
                      port: {default: '443', enum: ['443', '8443']}
                      base: {default: v1/x}
                paths: {}
                """
            ]))
        let text = generator.generate("a.yaml").files.first?.text ?? ""
        #expect(text.contains("nonisolated enum Shop {"))
        #expect(
            text.contains(
                #"static func server(shop: String = "demo", port: Port = .value443, base: String = "v1/x")"#
            )
                || text.contains("        port: Port = .value443,\n"))
        #expect(text.contains(#""https://\(shop).example.com:\(port)/\(path: base)""#))
    }

    @Test(arguments: [
        (
            "[{name: cursor, in: query, schema: {type: string}}]",
            "{data: {type: array, items: {type: integer}}, meta: {type: object, properties: {next_cursor: {type: string}}}}",
            #".cursor("cursor", at: ["meta", "next_cursor"])"#
        ),
        (
            "[{name: offset, in: query, schema: {type: integer}}]",
            "{entries: {type: array, items: {type: integer}}, total_count: {type: integer}}",
            #".offset("offset", items: ["entries"], total: ["total_count"])"#
        ),
        (
            "[{name: page, in: query, schema: {type: integer}}]",
            "{items: {type: array, items: {type: integer}}}", #".number("page", items: ["items"])"#
        ),
    ])
    func pagesAreRecognised(parameters: String, members: String, rule: String) {
        let text = endpoint(
            """
            parameters: \(parameters)
            responses:
              '200':
                description: ok
                content: {application/json: {schema: {type: object, properties: \(members)}}}
            """
        ).classes
        #expect(text.contains("    var pagination: Pagination { \(rule) }\n"))
        #expect(text.contains("-> some AsyncSequence<Int, RequestError> {\n"))
        let method = "items(pagination, limit: limit, on: agent) { $0."
        #expect(text.contains(method))
    }

    @Test func linkedPagesAndStatedOnes() {
        let linked = endpoint(
            """
            responses:
              '200':
                description: ok
                headers: {Link: {schema: {type: string}}}
                content: {application/json: {schema: {type: array, items: {type: string}}}}
            """)
        #expect(linked.classes.contains("    var pagination: Pagination { .link }\n"))
        let stated = endpoint(
            """
            x-errand-pagination: {style: cursor, parameter: after, cursor: a.b}
            responses:
              '200': {description: ok, content: {application/json: {schema: {type: array, items: {type: string}}}}}
            """)
        #expect(stated.classes.contains(#"{ .cursor("after", at: ["a", "b"]) }"#))
    }

    @Test func streamsHaveTypedElements() {
        let output = endpoint(
            """
            responses:
              '200':
                description: ok
                content:
                  application/json: {schema: {type: integer}}
                  text/event-stream: {schema: {type: object, properties: {a: {type: string}}}}
            """)
        #expect(output.classes.contains(") async throws(RequestError) -> Events<Event> {\n"))
        #expect(output.classes.contains("typealias Output = Int\n"))
        let lines = endpoint(
            "responses: {'200': {description: ok, content: {application/jsonl: {schema: {type: integer}}}}}"
        )
        #expect(lines.classes.contains("try await stream(on: agent).jsonLines(of: Int.self)\n"))
        #expect(lines.classes.contains("final class Do: ShopRequest {\n"))
    }

    @Test func validatorsHaveTheSchemasOfTheDocument() {
        let output = endpoint(
            "responses: {'200': {description: ok, content: {application/json: {schema: {$ref: '#/components/schemas/A'}}}}}",
            components: """
                components:
                  schemas:
                    A: {type: object, description: d, required: [id], properties: {id: {type: integer, writeOnly: true}, b: {$ref: '#/components/schemas/B'}}}
                    B: {type: string, pattern: '^a', x-a: 1, format: color}
                """
        ) { $0.validates = true }
        #expect(output.classes.contains("    static let shape = ShopSchemas.shape(\"A\")\n"))
        #expect(
            output.classes.contains("    override var validator: JSONShape? { Self.shape }\n"))
        let schemas = output.text("ShopSchemas.swift")
        #expect(schemas.contains(##""B": {"type":"string","pattern":"^a"}"##))
        #expect(schemas.contains(##""required":[]"##))
        #expect(!schemas.contains("description"))
    }

    @Test func mocksHaveExamplesOrValuesOfTheSchema() {
        let example = endpoint(
            "responses: {'201': {description: ok, content: {application/json: {schema: {type: integer}, example: 7}}}}"
        ) { $0.mocks = true }
        let text = example.mocks.first?.text ?? ""
        #expect(text.contains("@testable import Shop\n"))
        #expect(text.contains("            7\n"))
        #expect(text.contains("status: HTTPResponse.Status(code: 201))\n"))
    }

    @Test func operationsWithoutRequirementsSendNoCredentials() {
        let scheme = "components: {securitySchemes: {key: {type: apiKey, in: header, name: X-Key}}}"
        func text(_ security: String) -> String {
            let operation = "operationId: a, responses: {'204': {description: ok}}"
            let other = "operationId: b\(security), responses: {'204': {description: ok}}"
            let paths = "paths:\n  /a: {get: {\(operation)}}\n  /b: {get: {\(other)}}\n"
            return generate(paths + scheme).classes
        }
        let removal = "request.uses.remove(.authenticators)"
        let classes = text(", security: [{key: []}]").split(separator: "/// GET `/b`")
        #expect(classes.count == 2)
        #expect(classes.first?.contains(removal) == true)
        #expect(classes.last?.contains(removal) == false)
        // A document that never states a requirement leaves it to the configuration.
        #expect(!text("").contains(removal))
    }

    @Test func aRelativeServerWithoutAnAbsoluteOneIsNoted() {
        let generator = Generator(
            load: load([
                "a.yaml": """
                openapi: 3.1.0
                info: {title: Shop, version: '1'}
                servers: [{url: /v1}]
                paths:
                  /a: {get: {operationId: a, servers: [{url: /v2}], responses: {'204': {description: ok}}}}
                """
            ]))
        let output = generator.generate("a.yaml")
        #expect(
            output.problems.map(\.description) == [
                "a.yaml:5: note: The server /v2 is relative, and the document has no absolute one; "
                    + "the URL of the configuration is used. (at #/paths/~1a/get/servers/0)"
            ])
        let text = output.files.first?.text ?? ""
        #expect(
            text.contains("/// The document names the server `/v1` without a host, so the base"))
    }
}
