import Errand
import ErrandTesting
import ErrandTransport
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// The content type and other headers about the body, from each place that can set headers, over real connections.
@Suite(.limited) final class BodyHeaderTests: Sendable {
    /// The places that can set a header.
    enum Source: String, CaseIterable, Sendable {
        case headers, customRequest
        case sharedHeaders, headerProvider, environment, hostHeaders, fixedHeaders
        case processor, interceptor, authenticator

        /// Whether the header belongs to all requests of the configuration.
        var isShared: Bool {
            switch self {
            case .sharedHeaders, .headerProvider, .environment, .hostHeaders: true
            default: false
            }
        }
    }

    /// The kinds of body, and the content type that they have themselves.
    enum Kind: String, CaseIterable, Sendable {
        case form, jsonArguments, jsonValue, jsonAPI, custom, octets, text, file, stream, untyped
        case parts, writtenParts

        var ownType: String? {
            switch self {
            case .form: "application/x-www-form-urlencoded"
            case .jsonArguments, .jsonValue: "application/json"
            case .jsonAPI: "application/vnd.api+json"
            case .custom: "application/xml; charset=utf-8"
            case .octets, .file, .stream: "application/octet-stream"
            case .text: "text/plain; charset=utf-8"
            case .untyped: nil
            case .parts, .writtenParts: "multipart/form-data; boundary=B"
            }
        }

        var isParts: Bool { self == .parts || self == .writtenParts }

        func body(_ file: URL) -> HTTPBody? {
            switch self {
            case .form, .jsonArguments, .custom: nil
            case .jsonValue: .json(["a": 1])
            case .jsonAPI: .data(Data("{}".utf8), contentType: ownType)
            case .octets: .data(Data("a".utf8))
            case .text: .string("a")
            case .file: .file(file)
            case .stream:
                .stream {
                    AsyncStream { chunks in
                        chunks.yield(Data("a".utf8))
                        chunks.finish()
                    }
                }
            case .untyped: .data(Data("a".utf8), contentType: nil)
            case .parts: .multipart([.text("a", "1")], boundary: "B")
            case .writtenParts: .file(file, contentType: ownType)
            }
        }

        func describe(_ description: inout RequestDescription, _ file: URL) {
            description.method = .post
            if let body = body(file) {
                description.body = body
                return
            }
            description.arguments = ["a": 1]
            switch self {
            case .jsonArguments: description.requestSerializer = .json
            case .custom:
                description.requestSerializer = .custom(contentType: ownType ?? "") { _ in
                    Data("<a/>".utf8)
                }
            default: break
            }
        }
    }

    private final class Adding: Authenticator {
        private let field: HTTPField
        init(field: HTTPField) { self.field = field }
        func apply(to request: inout TransportRequest) async throws {
            request.headers[field.name] = field.value
        }
    }

    private let server = LoopbackServer()
    private let file: TemporaryFile

    init() async throws {
        file = try TemporaryFile(
            Data("--B\r\n\r\n1\r\n--B--\r\n".utf8), name: "body")
        server.otherwise { _ in
            LoopbackResponse(headers: ["Content-Type": "application/json"], body: Data("{}".utf8))
        }
        try await server.start()
    }

    deinit {
        let server = server
        Task { await server.stop() }
    }

    /// Sends a body with a header from a source; the request that the server received, or the error.
    private func send(
        _ field: HTTPField, from source: Source, _ kind: Kind, by transport: TransportKind,
        _ change: (inout Configuration, inout RequestDescription) -> Void = { _, _ in }
    ) async throws -> Result<LoopbackRequest, RequestError> {
        var configuration = Configuration(baseURL: server.baseURL)
        var description = RequestDescription(endpoint: "Send", url: "body")
        kind.describe(&description, file.url)
        var fields = HTTPFields()
        fields.append(field)
        let changing: @Sendable (inout TransportRequest) -> Void = {
            $0.headers[field.name] = field.value
        }
        switch source {
        case .headers: description.headers = fields
        case .customRequest:
            description = RequestDescription(endpoint: "Send", url: "")
            description.customRequest = CustomRequest(
                url: "\(server.baseURL)/body", method: .post,
                headers: [(field.name.rawName, field.value)], body: kind.body(file.url))
        case .sharedHeaders: configuration.sharedHeaders = fields
        case .headerProvider: configuration.headerProvider = { [fields] in fields }
        case .environment:
            configuration.environments = ["test": .init(headers: fields)]
            configuration.environment = "test"
        case .hostHeaders: configuration.hostHeaders = ["127.0.0.1": fields]
        case .fixedHeaders:
            configuration.sharedHeaders = fields
            configuration.fixedHeaderNames = [field.name]
        case .processor:
            configuration.requestProcessors = [
                { request, _, _ in changing(&request) }
            ]
        case .interceptor:
            configuration.interceptors.append { request, next in
                var request = request
                changing(&request)
                return try await next(request)
            }
        case .authenticator:
            configuration.authenticators = ["127.0.0.1": Adding(field: field)]
        }
        change(&configuration, &description)
        let agent = RequestAgent(
            configuration: configuration, transport: transport.makeTransport(), store: nil)
        let count = server.requests.count
        let request = InlineRequest("") { $0 = description }
        do {
            try await request.send(on: agent)
        } catch {
            #expect(server.requests.count == count, "nothing is sent before \(error)")
            return .failure(error)
        }
        return .success(try #require(server.requests.last))
    }

    /// The content types that arrive.
    private func types(
        _ type: String, from source: Source, _ kind: Kind, by transport: TransportKind
    ) async throws -> Result<[String], RequestError> {
        let field = HTTPField(name: .contentType, value: type)
        return try await send(field, from: source, kind, by: transport)
            .map { $0.values(of: "Content-Type") }
    }

    // MARK: - Content-Type

    @Test(arguments: Source.allCases, TransportKind.allCases)
    func contentTypeOfAnotherFormat(source: Source, transport: TransportKind) async throws {
        for kind in Kind.allCases {
            if source == .customRequest, kind.body(file.url) == nil { continue }
            let result = try await types("application/json", from: source, kind, by: transport)
            if source.isShared, let own = kind.ownType {
                #expect(try result.get() == [own], "\(source) \(kind)")
            } else if kind.isParts {
                guard case .failure(let error) = result else {
                    Issue.record("\(source) \(kind) was sent: \(result)")
                    continue
                }
                #expect(error.code == .invalidHeader && error.stage == .build)
                #expect(
                    error.message.contains("header Content-Type")
                        && error.message.contains("Remove the header"))
            } else {
                #expect(try result.get() == ["application/json"], "\(source) \(kind)")
            }
        }
    }

    @Test(arguments: Source.allCases, TransportKind.allCases)
    func missingBoundaryIsAdded(source: Source, transport: TransportKind) async throws {
        for (type, sent) in [
            ("multipart/form-data", "multipart/form-data; boundary=B"),
            ("Multipart/Mixed; charset=utf-8; ", "Multipart/Mixed; charset=utf-8; boundary=B"),
            ("multipart/form-data; boundary=\"B\"", "multipart/form-data; boundary=\"B\""),
        ] {
            for kind in [Kind.parts, .writtenParts] {
                let result = try await types(type, from: source, kind, by: transport)
                let expected = source.isShared ? "multipart/form-data; boundary=B" : sent
                #expect(try result.get() == [expected], "\(source) \(kind) \(type)")
            }
        }
    }

    @Test(arguments: [
        "multipart/form-data; boundary=C", "multipart/form-data; boundary=", "multipart", "",
        "multipart/form-data; boundary=B; boundary=C", "multipart/form-data; boundary=\"B",
        "text/plain; boundary=B", "multipart/form-data boundary=B",
    ])
    func otherBoundariesAreRefused(type: String) async throws {
        for source in [Source.headers, .fixedHeaders, .processor] {
            for kind in [Kind.parts, .writtenParts] {
                let result = try await types(type, from: source, kind, by: .curl)
                guard case .failure(let error) = result else {
                    Issue.record("\(source) \(kind) \(type) was sent: \(result)")
                    continue
                }
                #expect(error.code == .invalidHeader)
            }
        }
    }

    @Test func sharedJSONTypeAppliesToJSON() async throws {
        for source in Source.allCases where source.isShared {
            for kind in Kind.allCases {
                let type = "application/vnd.api+json; ext=x"
                let isJSON = kind.ownType == "application/json"
                #expect(
                    try await types(type, from: source, kind, by: .curl).get() == [
                        isJSON ? type : kind.ownType ?? type
                    ], "\(source) \(kind)")
            }
        }
    }

    @Test(arguments: TransportKind.allCases)
    func partsOfAHookBringTheirType(transport: TransportKind) async throws {
        let parts = HTTPBody.multipart([.text("a", "1")], boundary: "C")
        let field = HTTPField(name: .age, value: "1")
        let processed = try await send(field, from: .headers, .form, by: transport) {
            configuration, _ in
            configuration.requestProcessors = [
                { request, _, _ in request.body = parts }
            ]
        }
        #expect(
            try processed.get().values(of: "Content-Type") == ["multipart/form-data; boundary=C"])
        let intercepted = try await send(field, from: .headers, .jsonValue, by: transport) {
            configuration, _ in
            configuration.interceptors.append { request, next in
                var request = request
                request.body = parts
                return try await next(request)
            }
        }
        #expect(
            try intercepted.get().values(of: "Content-Type") == ["multipart/form-data; boundary=C"])
    }

    @Test(arguments: TransportKind.allCases)
    func changedTypeOfABodyKeepsTheBoundary(transport: TransportKind) async throws {
        var body = HTTPBody.multipart([.text("a", "1")], boundary: "B")
        body.contentType = "multipart/mixed"
        let sent = try await send(
            HTTPField(name: .age, value: "1"), from: .headers, .parts, by: transport
        ) { [body] in
            $1.body = body
            _ = $0
        }
        #expect(try sent.get().values(of: "Content-Type") == ["multipart/mixed; boundary=B"])
    }

    @Test func partWithPartsKeepsItsBoundary() async throws {
        let inner = HTTPBody.multipart([.text("a", "1")], boundary: "I")
        func bytes(_ type: String) async throws -> String {
            let part = HTTPBody.Part(
                name: "p", body: inner, headers: [.contentType: type])
            return String(
                decoding: try await HTTPBody.multipart([part]).bytes(),
                as: UTF8.self)
        }
        #expect(
            try await bytes("multipart/mixed").contains(
                "Content-Type: multipart/mixed; boundary=I\r\n"))
        let error = await #expect(throws: RequestError.self) { try await bytes("text/plain") }
        #expect(error?.code == .invalidBody)
    }

    @Test func twoContentTypesAreRefused() async throws {
        let result = try await send(
            HTTPField(name: .age, value: "1"), from: .headers, .text, by: .curl
        ) {
            $1.headers = [.contentType: "text/plain", .custom("content-type"): "text/html"]
            _ = $0
        }
        guard case .failure(let error) = result else {
            Issue.record("was sent: \(result)")
            return
        }
        #expect(error.code == .invalidHeader && error.message.contains("two headers Content-Type"))
    }

    // MARK: - Headers of the transport

    @Test(
        arguments: Source.allCases,
        [("Host", "evil.example"), ("Content-Length", "7"), ("Transfer-Encoding", "chunked")])
    func headerThatTheTransportWritesIsRefused(
        source: Source, field: (name: String, value: String)
    ) async throws {
        let name = try #require(HTTPField.Name(field.name))
        for transport in TransportKind.allCases {
            let result = try await send(
                HTTPField(name: name, value: field.value), from: source, .octets, by: transport)
            guard case .failure(let error) = result else {
                Issue.record("\(source) \(transport) \(field.name) was sent: \(result)")
                continue
            }
            #expect(error.code == .invalidHeader && error.message.contains(field.name))
        }
    }

    @Test(arguments: Source.allCases, TransportKind.allCases)
    func rightLengthAndHostAreSentOnce(source: Source, transport: TransportKind) async throws {
        let length = try await send(
            HTTPField(name: .contentLength, value: "1"), from: source, .octets, by: transport)
        #expect(try length.get().values(of: "Content-Length") == ["1"])
        let name = try #require(HTTPField.Name("Host"))
        let host = "127.0.0.1:\(server.port)"
        let named = try await send(
            HTTPField(name: name, value: host), from: source, .octets, by: transport)
        #expect(try named.get().values(of: "Host") == [host])
    }

    @Test(arguments: Source.allCases, TransportKind.allCases)
    func acceptedCodingsAreSentAsSet(source: Source, transport: TransportKind) async throws {
        let sent = try await send(
            HTTPField(name: .acceptEncoding, value: "identity"), from: source, .octets,
            by: transport)
        #expect(try sent.get().values(of: "Accept-Encoding") == ["identity"])
    }

    @Test(arguments: Source.allCases)
    func contentCodingAndCompression(source: Source) async throws {
        func sent(_ coding: String) async throws -> Result<LoopbackRequest, RequestError> {
            try await send(
                HTTPField(name: .contentEncoding, value: coding), from: source, .text, by: .curl
            ) {
                $0.bodyEncoder = ReversingBodyEncoder()
                $1.body = $1.body.map { _ in .string("abc") }
                if let custom = $1.customRequest {
                    $1.customRequest = CustomRequest(
                        url: custom.url, method: custom.method, headers: custom.headers,
                        body: .string("abc"))
                }
            }
        }
        let same = try await sent("x-reversed")
        let other = try await sent("gzip")
        switch source {
        // The endpoint says that its body is encoded already.
        case .headers, .customRequest:
            #expect(try same.get().body == Data("abc".utf8))
            #expect(try other.get().values(of: "Content-Encoding") == ["gzip"])
        // Hooks run after the compression, and have the last word.
        case .processor, .interceptor, .authenticator:
            #expect(try same.get().body == Data("cba".utf8))
            #expect(try other.get().values(of: "Content-Encoding") == ["gzip"])
        default:
            #expect(try same.get().body == Data("cba".utf8))
            #expect(try same.get().values(of: "Content-Encoding") == ["x-reversed"])
            guard case .failure(let error) = other else {
                Issue.record("\(source) was sent: \(other)")
                return
            }
            #expect(error.code == .invalidHeader && error.message.contains("Content-Encoding"))
        }
    }

    @Test(arguments: Source.allCases)
    func trailerFieldsAreThoseOfTheBody(source: Source) async throws {
        func sent(_ names: String) async throws -> Result<LoopbackRequest, RequestError> {
            try await send(
                HTTPField(name: .trailer, value: names), from: source, .text, by: .curl
            ) {
                let body = HTTPBody.string("a").trailers([.custom("X-Sum")]) { [:] }
                if let custom = $1.customRequest {
                    $1.customRequest = CustomRequest(
                        url: custom.url, method: custom.method, headers: custom.headers, body: body)
                } else {
                    $1.body = body
                }
                _ = $0
            }
        }
        #expect(try await sent("x-sum").get().values(of: "Trailer") == ["X-Sum"])
        guard case .failure(let error) = try await sent("X-Other") else {
            Issue.record("\(source) was sent")
            return
        }
        #expect(error.code == .invalidHeader && error.message.contains("Trailer"))
    }
}
