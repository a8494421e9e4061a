import Errand
import ErrandTesting
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Endpoints that supply a `URLRequest`.
@Suite(.timeLimit(.minutes(5))) struct CustomRequestTests {
    private final class URLRequestEndpoint: BaseRequest {
        var request: URLRequest
        var customTimeouts: Timeouts?
        private(set) var hooks: [String] = []

        init(_ request: URLRequest) { self.request = request }
        override func customURLRequest() -> URLRequest? { request }
        override var timeouts: Timeouts? { customTimeouts }
        override var cacheSeconds: Int { 60 }
        override var writesCacheAsynchronously: Bool { false }
        override var validator: JSONShape? { ["n": .int] }
        override func willStart() { hooks.append("start") }
        override func didFinish() { hooks.append("finish") }
        override func didFail() { hooks.append("fail") }
    }

    private func makeURLRequest() throws -> URLRequest {
        var request = URLRequest(url: try #require(URL(string: "https://other.example.com/a?b=c")))
        request.httpMethod = "POST"
        request.httpBody = Data("raw".utf8)
        request.setValue("text/x", forHTTPHeaderField: "Content-Type")
        return request
    }

    @Test func validationHooksAndCacheApplyToCustomRequests() async throws {
        let fixture = AgentFixture { $0.sharedHeaders = [.from: "shared"] }
        fixture.transport.on(.post, "/a", .json(#"{"n":1}"#), .json(#"{"n":"two"}"#))
        let request = fixture.with(URLRequestEndpoint(try makeURLRequest()))
        #expect(try await request.send().json["n"].int == 1)
        let sent = try #require(fixture.transport.requests.first)
        #expect(sent.url.string == "https://other.example.com/a?b=c")
        #expect(sent.headers[.contentType] == "text/x" && sent.headers[.from] == nil)
        #expect(try await sent.collectedBody() == Data("raw".utf8))
        #expect(try await request.send().source == .cacheFresh)
        request.ignoresCache = true
        let error = await #expect(throws: RequestError.self) { try await request.send() }
        #expect(error?.code == .shapeMismatch)
        #expect(request.hooks == ["start", "finish", "start", "finish", "start", "fail"])
    }

    @Test func urlRequestSettingsApplyUnlessTheEndpointHasItsOwn() throws {
        var url = try makeURLRequest()
        let request = URLRequestEndpoint(url)
        #expect(request.describe().timeouts == nil)
        url.timeoutInterval = 2.5
        url.allowsCellularAccess = false
        request.request = url
        #expect(request.describe().timeouts?.idle == .milliseconds(2500))
        #expect(request.describe().allowsCellularAccess == false)
        request.customTimeouts = Timeouts(idle: .seconds(9))
        #expect(request.describe().timeouts?.idle == .seconds(9))
    }

    @Test func descriptionsContainNoSecrets() async throws {
        let fixture = AgentFixture { $0.authenticators = [] }
        fixture.agent.configuration.sharedHeaders = [.authorization: "Bearer hunter2"]
        var description = RequestDescription(
            endpoint: "E", url: "https://u:hunter2@h/x?token=hunter2#hunter2")
        description.authorization = .bearer("hunter2")
        description.headers = [.cookie: "sid=hunter2"]
        description.arguments = ["password": "hunter2"]
        #expect("\(description)" == "E: GET https://h/x?…")
        fixture.transport.on(nil, nil, .json(#"{"token":"hunter2"}"#, status: .forbidden))
        description.url = "https://h/x?token=hunter2"
        let task = fixture.agent.start(description)
        let error = await #expect(throws: RequestError.self) { try await task.response() }
        let sent = try #require(fixture.transport.requests.first)
        let texts: [Any] = [
            description, fixture.agent.configuration, sent, try #require(error),
            try #require(error?.response), BasicAuthenticator(user: "a", password: "hunter2"),
            APIKeyAuthenticator("hunter2", in: .query("key")), CustomRequest(sent),
        ]
        for value in texts {
            let printed = "\(value)" + String(reflecting: value)
            #expect(!printed.contains("hunter2"))
        }
        #expect(error?.localizedDescription.contains("hunter2") == false)
        let bridged = error.map { "\($0.nsError)" } ?? "hunter2"
        #expect(!bridged.contains("hunter2"))
    }

    private func body(from stream: InputStream, sends: Int = 1) async throws -> Data {
        let fixture = AgentFixture()
        fixture.transport.on(.post, "/a", .json(#"{"n":1}"#))
        var request = try makeURLRequest()
        request.httpBody = nil
        request.httpBodyStream = stream
        let endpoint = fixture.with(URLRequestEndpoint(request))
        for _ in 0..<sends { try await endpoint.send() }
        return try await #require(fixture.transport.requests.last).collectedBody()
    }

    @Test func bodyStreamIsReadToItsEnd() async throws {
        let bytes = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0) })
        #expect(try await body(from: InputStream(data: bytes)) == bytes)
        #expect(try await body(from: InputStream(data: Data())) == Data())
    }

    @Test func unreadableBodyStreamFailsBeforeSending() async throws {
        let missing = try #require(InputStream(fileAtPath: "/nowhere/to/be/found"))
        let error = await #expect(throws: RequestError.self) { try await body(from: missing) }
        #expect(error?.code == .bodyReadFailed && error?.attempts == 0)
    }

    @Test func consumedBodyStreamIsNotSentAgain() async throws {
        let stream = InputStream(data: Data("once".utf8))
        let error = await #expect(throws: RequestError.self) {
            try await body(from: stream, sends: 2)
        }
        #expect(error?.code == .bodyReadFailed)
        #expect(error?.message.contains("already read") == true)
    }
}
