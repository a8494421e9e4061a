import Errand
import ErrandTesting
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// Requests with an own `If-None-Match` or `If-Modified-Since`: a 304 is their response (RFC 9110 §15.4.5).
@Suite(.limited) struct ConditionalRequestTests {
    private static let conditions: [HTTPFields] = [
        [.ifNoneMatch: "\"a\""], [.ifModifiedSince: "Sun, 06 Nov 1994 08:49:37 GMT"],
        [.ifNoneMatch: "*", .ifModifiedSince: "Sun, 06 Nov 1994 08:49:37 GMT"],
    ]
    private static let policies: [CachePolicy?] = [
        nil, .cacheElseLoad, .loadElseCache, .reload, .http,
    ]

    private struct User: Decodable, Sendable { var nick: String }

    private final class GetUser: BaseRequest, DecodableOutput {
        typealias Output = User
        let fields: HTTPFields
        init(_ fields: HTTPFields) { self.fields = fields }
        override var url: EndpointURL { "x" }
        override var headers: HTTPFields { fields }
    }

    private final class FindUser: BaseRequest, DecodableOutput {
        typealias Output = User?
        override var url: EndpointURL { "x" }
        override var headers: HTTPFields { [.ifNoneMatch: "\"a\""] }
        override var validator: JSONShape? { ["nick": .string] }
    }

    private final class Download: BaseRequest, FileOutput {
        let destination = FileManager.default.temporaryDirectory
            .appendingPathComponent("errand-\(UUID().uuidString)")
        var download: DownloadPlan { .to(destination) }
        override var url: EndpointURL { "x" }
        override var headers: HTTPFields { [.ifNoneMatch: "\"a\""] }
    }

    private let unchanged = ScriptedResponse(status: .notModified, headers: [.eTag: "\"a\""])

    private func request(
        _ fields: HTTPFields, _ policy: CachePolicy?,
        _ describe: (inout RequestDescription) -> Void = { _ in }
    ) -> InlineRequest {
        InlineRequest("x") {
            $0.headers = fields
            $0.cache.policy = policy
            if policy != nil, policy != .http { $0.cacheSeconds = 600 }
            describe(&$0)
        }
    }

    @Test(arguments: conditions, policies)
    func notModifiedIsTheResponse(fields: HTTPFields, policy: CachePolicy?) async throws {
        let fixture = AgentFixture()
        fixture.transport.on(nil, "/x", unchanged)
        for method in [HTTPMethod.get, .head] {
            let response = try await request(fields, policy) {
                $0.method = method
                $0.validator = ["nick": .string]
            }.send(on: fixture.agent)
            #expect(response.status == .notModified && response.headers[.eTag] == "\"a\"")
            #expect(response.data.isEmpty && response.source == .network)
        }
        #expect(
            fixture.transport.requests.allSatisfy { $0.headers.contains(.ifNoneMatch) }
                == fields.contains(.ifNoneMatch))
    }

    /// A stored response is neither used for the caller's condition, nor replaced by a 304.
    @Test(arguments: policies)
    func notModifiedIsNotStored(policy: CachePolicy?) async throws {
        let fixture = AgentFixture()
        let whole = ScriptedResponse(
            headers: [.contentType: "application/json", .cacheControl: "max-age=600"],
            body: Data(#"{"nick":"a"}"#.utf8))
        fixture.transport.on(nil, "/x", whole, unchanged, whole)
        #expect(try await request([:], policy).send(on: fixture.agent).status == .ok)
        let conditional = try await request([.ifNoneMatch: "\"a\""], policy).send(on: fixture.agent)
        #expect(conditional.status == .notModified)
        let later = try await request([:], policy).send(on: fixture.agent)
        #expect(later.status == .ok && later.json["nick"].string == "a")
        // The first response is still stored.
        let usesStore = policy == .cacheElseLoad || policy == .http
        #expect(fixture.transport.requests.count == (usesStore ? 2 : 3))
    }

    @Test func hooksCanSetTheCondition() async throws {
        let processing = AgentFixture {
            $0.requestProcessors = [
                { request, _, _ in
                    request.headers[.ifNoneMatch] = "\"a\""
                }
            ]
        }
        let intercepting = AgentFixture.intercepting { request, next in
            var request = request
            request.headers[.ifNoneMatch] = "\"a\""
            return try await next(request)
        }
        for fixture in [processing, intercepting] {
            fixture.transport.on(nil, "/x", unchanged)
            #expect(try await request([:], nil).send(on: fixture.agent).status == .notModified)
        }
    }

    @Test func typedRequestsHaveNoValue() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(nil, "/x", unchanged)
        #expect(try await FindUser().value(on: fixture.agent) == nil)
        let error = await #expect(throws: RequestError.self) {
            try await GetUser([.ifNoneMatch: "\"a\""]).value(on: fixture.agent)
        }
        #expect(error?.code == .undecodable && error?.response?.status == .notModified)
        #expect(error?.message.contains("status 304 has no body") == true)
    }

    @Test func streamsDeliverIt() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(nil, "/x", unchanged)
        let stream = try await request([.ifNoneMatch: "\"a\""], nil).stream(on: fixture.agent)
        #expect(stream.response.status == .notModified)
        for try await _ in stream.bytes { Issue.record("a 304 has no body") }
    }

    @Test func otherwiseItIsAnError() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(nil, "/x", unchanged)
        for (fields, method) in [
            ([:], .get), ([.ifMatch: "\"a\""], .get), ([.ifNoneMatch: "\"a\""], .post),
        ] as [(HTTPFields, HTTPMethod)] {
            let error = await #expect(throws: RequestError.self) {
                try await request(fields, nil) { $0.method = method }.send(on: fixture.agent)
            }
            #expect(error?.code == .unacceptableStatus, "\(fields) \(method)")
        }
        let error = await #expect(throws: RequestError.self) {
            try await Download().value(on: fixture.agent)
        }
        #expect(error?.code == .unacceptableStatus)
    }
}

/// The headers of responses whose body was decoded, with each transport.
@Suite(.limited) final class DecodedHeaderTests: Sendable {
    private static let plain = Data(
        #"{"nick":"a","text":"\#(String(repeating: "b", count: 500))"}"#.utf8)

    private let server = LoopbackServer()

    init() async throws {
        let encoded = try ZlibBodyEncoder.gzip.encode(Self.plain)
        server.otherwise { request in
            LoopbackResponse(
                status: request.path == "/failed" ? 500 : 200,
                headers: [
                    "Content-Type": "application/json", "Cache-Control": "max-age=600",
                    "Content-Encoding": "gzip", "ETag": "\"g\"", "Vary": "X-None",
                ], body: encoded)
        }
        server.route("/unknown") { _ in
            LoopbackResponse(headers: ["Content-Encoding": "x-other"], body: Data("abc".utf8))
        }
        try await server.start()
    }

    deinit {
        let server = server
        Task { await server.stop() }
    }

    private func agent(_ transport: TransportKind) -> RequestAgent {
        RequestAgent(
            configuration: Configuration(baseURL: server.baseURL),
            transport: transport.makeTransport(), store: MemoryResponseStore())
    }

    private func request(
        _ path: String = "x", _ describe: (inout RequestDescription) -> Void = { _ in }
    ) -> InlineRequest {
        InlineRequest(EndpointURL(raw: path)) {
            $0.headers = [.acceptEncoding: "gzip"]
            describe(&$0)
        }
    }

    private func expectPlain(_ response: Response, _ source: Response.Source) {
        #expect(response.data == Self.plain && response.source == source)
        #expect(
            response.headers[.contentEncoding] == nil && response.headers[.contentLength] == nil)
        #expect(response.headers[.eTag] == "\"g\"")
        #expect(!response.headers.contains { $0.name.rawName.hasPrefix("Errand-") })
    }

    @Test(arguments: TransportKind.allCases)
    func decodedBodyHasNeitherCodingNorLength(transport: TransportKind) async throws {
        let agent = agent(transport)
        expectPlain(try await request().send(on: agent), .network)
        let error = await #expect(throws: RequestError.self) {
            try await self.request("failed").send(on: agent)
        }
        expectPlain(try #require(error?.response), .network)
        let stream = try await request { $0.acceptance.format = .any }.stream(on: agent)
        #expect(stream.response.headers[.contentEncoding] == nil)
        #expect(stream.response.headers[.contentLength] == nil)
        var bytes = Data()
        for try await chunk in stream.bytes { bytes += chunk }
        #expect(bytes == Self.plain)
    }

    @Test(arguments: TransportKind.allCases)
    func storedResponsesAreAlike(transport: TransportKind) async throws {
        for policy in [CachePolicy.cacheElseLoad, .http] {
            let agent = agent(transport)
            for source in [Response.Source.network, .cacheFresh, .cacheFresh] {
                let response = try await request {
                    $0.cache.policy = policy
                    if policy != .http { $0.cacheSeconds = 600 }
                }.send(on: agent)
                expectPlain(response, source)
            }
        }
    }

    /// A range refers to the encoded bytes (RFC 9110 §14.2).
    @Test func storedDecodedBodyIsNotUsedForARange() async throws {
        let agent = agent(.curl)
        _ = try await request { $0.cache.policy = .http }.send(on: agent)
        let count = server.requests.count
        _ = try await request {
            $0.cache.policy = .http
            $0.headers = [.range: "bytes=0-9"]
        }.send(on: agent)
        #expect(server.requests.count == count + 1)
    }

    @Test func headersOfABodyAsReceivedStay() async throws {
        let agent = agent(.curl)
        let head = try await request { $0.method = .head }.send(on: agent)
        #expect(head.headers[.contentEncoding] == "gzip" && head.headers[.contentLength] != nil)
        let unknown = try await request("unknown") { $0.acceptance.format = .any }.send(on: agent)
        #expect(unknown.headers[.contentEncoding] == "x-other")
        #expect(unknown.headers[.contentLength] == "3" && unknown.data == Data("abc".utf8))
        let raw = try await request {
            $0.acceptance.format = .any
            $0.sending.transport = TransportOverrides(decodesContent: false)
        }.send(on: agent)
        #expect(raw.headers[.contentEncoding] == "gzip" && raw.data != Self.plain)
        #expect(raw.headers[.contentLength] == "\(raw.data.count)")
    }
}
