import Errand
import ErrandTesting
import Foundation
import Synchronization
import TestSupport
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Endpoints that supply a `URLRequest`.
@Suite(.limited) struct CustomRequestTests {
    private final class URLRequestEndpoint: BaseRequest {
        var request: URLRequest
        var customTimeouts: Timeouts?
        private(set) var hooks: [String] = []

        init(_ request: URLRequest) { self.request = request }
        override func configure(_ request: inout RequestDescription) {
            super.configure(&request)
            request.use(self.request)
            request.cache.writesAsynchronously = false
        }
        override var timeouts: Timeouts? { customTimeouts }
        override var cacheSeconds: Int { 60 }
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

    @Test func validationHooksCacheAndProgressApplyToCustomRequests() async throws {
        let fixture = AgentFixture { $0.sharedHeaders = [.from: "shared"] }
        fixture.transport.on(.post, "/a", .json(#"{"n":1}"#), .json(#"{"n":"two"}"#))
        let request = fixture.with(URLRequestEndpoint(try makeURLRequest()))
        let progress = Mutex<[TransferProgress]>([])
        let response = try await request.send { task in
            task.onProgress { value in progress.withLock { $0.append(value) } }
        }
        #expect(response.json["n"].int == 1)
        let last = try #require(progress.withLock { $0.last })
        #expect(last.bytesReceived == 7 && last.totalBytesToReceive == 7)
        #expect(last.totalBytesToSend == 3)
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

    /// An option that no transport can apply is refused, and not dropped.
    @Test func serviceTypeIsRefused() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(nil, nil, .json(#"{"n":1}"#))
        for isVideo in [true, false] {
            var request = try makeURLRequest()
            request.networkServiceType = isVideo ? .video : .background
            let error = await #expect(throws: RequestError.self) {
                try await fixture.with(URLRequestEndpoint(request)).send()
            }
            #expect(error?.code == .unsupported && error?.stage == .build)
            #expect(error?.message.contains("networkServiceType") == true)
        }
        #expect(fixture.transport.requests.isEmpty)
    }

    @Test func progressOfACustomRequestCountsBothDirections() async throws {
        let server = LoopbackServer()
        server.route(
            "/a",
            responses: LoopbackResponse(
                headers: ["Content-Type": "application/json"], body: #"{"n":1}"#))
        try await server.start()
        let agent = RequestAgent(configuration: Configuration(), store: nil)
        var url = try makeURLRequest()
        url.url = URL(string: server.url("/a"))
        let request = URLRequestEndpoint(url)
        let progress = Mutex<[TransferProgress]>([])
        try await request.send(on: agent) { task in
            task.onProgress { value in progress.withLock { $0.append(value) } }
        }
        let last = try #require(progress.withLock { $0.last })
        #expect(last.bytesSent == 3 && last.bytesReceived == 7 && last.fractionCompleted == 1)
        await agent.shutdown()
        await server.stop()
    }

    @Test func urlRequestSettingsApplyUnlessTheEndpointHasItsOwn() throws {
        var url = try makeURLRequest()
        let request = URLRequestEndpoint(url)
        #expect(request.makeDescription().timeouts == nil)
        url.timeoutInterval = 2.5
        url.allowsCellularAccess = false
        request.request = url
        #expect(request.makeDescription().timeouts?.idle == .milliseconds(2500))
        #expect(request.makeDescription().uses.contains(.cellular) == false)
        request.customTimeouts = Timeouts(idle: .seconds(9))
        #expect(request.makeDescription().timeouts?.idle == .seconds(9))
    }

    @Test func authorizationAppliesToCustomRequests() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(.post, "/a", .json("{}"))
        var custom = CustomRequest(
            try await fixture.agent.transportRequest(for: customDescription()))
        try await fixture.with(
            InlineRequest("") {
                $0.customRequest = custom
                $0.authorization = .bearer("token")
            }
        ).send()
        #expect(fixture.transport.requests.map { $0.headers[.authorization] } == ["Bearer token"])
        custom.headers.append(("Authorization", "own"))
        try await expectRefusal("authorization") {
            $0.customRequest = custom
            $0.authorization = .bearer("token")
        }
    }

    @Test func overridesThatACustomRequestReplacesAreRefused() async throws {
        let custom = CustomRequest(url: "https://h/a", method: .put, headers: [], body: nil)
        let changes: [(String, (inout RequestDescription) -> Void)] = [
            ("url", { $0.url = "x" }), ("method", { $0.method = .post }),
            ("arguments", { $0.arguments = [:] }), ("body", { $0.body = .string("x") }),
            ("cache.arguments", { $0.cache.arguments = ["a": 1] }),
            ("headers", { $0.headers = [.from: "a"] }),
        ]
        for (name, change) in changes {
            try await expectRefusal(name) {
                $0.customRequest = custom
                change(&$0)
            }
        }
    }

    @Test func settingsOfABaseClassAreAllowedBesideACustomRequest() async throws {
        let fixture = AgentFixture { $0.apiVersion = "v1" }
        fixture.transport.on(.put, "/a", .json("{}"))
        let request = InlineRequest("") {
            $0.customRequest = CustomRequest(
                url: "https://h/a", method: .put, headers: [], body: nil)
            $0.baseURL = "https://base.example.com"
            $0.method = .put
            $0.argumentPlacement = .body
            $0.requestSerializer = .json
        }
        #expect(try await fixture.with(request).send().url.string == "https://h/a")
    }

    @Test func cachePolicyAndCookieSettingOfAURLRequestApply() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(.post, "/a", .json(#"{"n":1}"#))
        var url = try makeURLRequest()
        let request = fixture.with(URLRequestEndpoint(url))
        try await request.send()
        #expect(try await request.send().source == .cacheFresh)
        url.cachePolicy = .reloadIgnoringLocalCacheData
        request.request = url
        #expect(try await request.send().source == .network)
        url.cachePolicy = .reloadIgnoringLocalAndRemoteCacheData
        url.httpShouldHandleCookies = false
        request.request = url
        #expect(try await request.send().source == .network)
        #expect(!request.makeDescription().uses.contains(.cookies))
        let sent = fixture.transport.requests
        #expect(sent.map { $0.headers[.cacheControl] } == [nil, nil, "no-cache"])
        for policy in [
            URLRequest.CachePolicy.returnCacheDataElseLoad, .returnCacheDataDontLoad,
            .reloadRevalidatingCacheData,
        ] {
            url.cachePolicy = policy
            request.request = url
            let error = await #expect(throws: RequestError.self) { try await request.send() }
            #expect(error?.code == .invalidCombination && error?.stage == .build)
            #expect(error?.message.contains("cachePolicy") == true)
        }
        #expect(fixture.transport.requests.count == 3)
    }

    private func customDescription() -> RequestDescription {
        var description = RequestDescription(endpoint: "E", url: "https://h/a")
        description.method = .post
        return description
    }

    private func expectRefusal(
        _ name: String, _ change: (inout RequestDescription) -> Void
    ) async throws {
        let fixture = AgentFixture()
        let error = await #expect(throws: RequestError.self) {
            try await fixture.with(InlineRequest("", change)).send()
        }
        #expect(error?.code == .invalidCombination && error?.stage == .build, "\(name)")
        #expect(error?.message.contains(name) == true, "\(name)")
        #expect(fixture.transport.requests.isEmpty)
    }

    @Test func descriptionsContainNoSecrets() async throws {
        let fixture = AgentFixture { $0.authenticators = [:] }
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
            try #require(error?.response),
            StandardAuthenticator.basic(user: "a", password: "hunter2"),
            StandardAuthenticator.apiKey("hunter2", in: .query("key")), CustomRequest(sent),
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
