#if canImport(FoundationNetworking)
    import ErrandCore
    import ErrandTesting
    import ErrandTransport
    import Foundation
    import FoundationNetworking
    import TestSupport
    import Testing

    @testable import ErrandHTTP
    @testable import ErrandURLSession

    /// `URLSessionTransport` has the effect of every option, or refuses the request before anything is sent.
    ///
    /// The tables name every stored property of the option types; a property without an entry fails a test.
    @Suite("Options of URLSessionTransport", .limited)
    struct URLSessionOptionTests {
        private enum Treatment: Sendable {
            /// Requests that use the option are refused as unsupported.
            case refused(@Sendable (inout TransportRequest) -> Void)
            /// The option has an effect, which the closure checks.
            case honored(@Sendable (ContractFixture) async throws -> Void)
            /// The agent applies the option, or another entry of a table covers its members.
            case elsewhere
        }

        private static let options: [String: Treatment] = [
            "secretNames": .elsewhere,
            "httpVersion": .refused { request in
                request.url.scheme = "https"
                request.options.httpVersion = .http11
            },
            "decodesContent": .refused { $0.options.decodesContent = false },
            "maximumBodyBytes": .honored { fixture in
                var request = fixture.request()
                request.options.maximumBodyBytes = 3
                try await fixture.fail(request, .bodyTooLarge)
            },
            // The agent collects the body.
            "maximumBytesInMemory": .elsewhere,
            "maximumDecodingRatio": .honored { fixture in
                let body = Deflate.gzipOfZeros(1 << 20)
                fixture.server.otherwise { _ in
                    LoopbackResponse(headers: ["Content-Encoding": "gzip"], body: body)
                }
                var request = fixture.request()
                request.options.maximumDecodingRatio = 2
                try await fixture.fail(request, .bodyTooLarge)
            },
            "maximumHeadBytes": .honored { fixture in
                var request = fixture.request()
                request.options.maximumHeadBytes = 3
                try await fixture.fail(request, .badServerResponse)
            },
            // A hint, for transports that can choose the size.
            "receiveBufferBytes": .elsewhere,
            "security": .elsewhere,
            "proxy": .refused { $0.options.proxy = .none },
            "proxySecurity": .refused { $0.options.proxySecurity = .insecureForTests },
            "addressOverrides": .refused { $0.options.addressOverrides = ["a": ["127.0.0.1"]] },
            "addressFamily": .refused { $0.options.addressFamily = .ipv4 },
            "unixSocketPath": .refused { $0.options.unixSocketPath = "/run/x.sock" },
            "mayReplay": .honored { fixture in
                for (mayReplay, connections) in [(true, 1), (true, 1), (false, 2)] {
                    var request = fixture.request()
                    request.options.mayReplay = mayReplay
                    _ = try await fixture.succeed(request)
                    #expect(fixture.server.status.accepted == connections)
                }
            },
            // A permission that this transport cannot use: the response is an error, as without it.
            "deliversUnknownCodings": .honored { fixture in
                fixture.server.otherwise { _ in
                    LoopbackResponse(
                        headers: ["Content-Encoding": "rot13"], body: Data("uryyb".utf8))
                }
                var request = fixture.request()
                request.options.deliversUnknownCodings = true
                try await fixture.fail(request, .badContentEncoding)
            },
            "isUpgrade": .refused { $0.options.isUpgrade = true },
            "isStreamed": .refused { request in
                request.options.isStreamed = true
                request.method = .post
                request.body = .stream { AsyncStream<Data> { $0.finish() } }
            },
            "allowsCellularAccess": .honored { fixture in
                var request = fixture.request()
                request.options.allowsCellularAccess = false
                let url = try #require(WireRequest.url(of: request))
                let wire = WireRequest.make(request, url: url, bodyLength: nil, additional: [:])
                #expect(!wire.allowsCellularAccess)
            },
        ]

        private static let security: [String: Treatment] = [
            "authorities": secure { $0.authorities = "PEM" },
            "authorityFile": secure { $0.authorityFile = "/etc/ca.pem" },
            "pins": secure { $0.pins = [SecurityPolicy.Pins("127.0.0.1", publicKeys: [pin])] },
            "publicKeyPins": secure { $0.publicKeyPins = [pin] },
            "clientCertificateFile": secure { $0.clientCertificateFile = "/etc/client.pem" },
            "clientKeyFile": secure { policy in
                policy.clientCertificateFile = "/etc/client.pem"
                policy.clientKeyFile = "/etc/client.key"
            },
            "clientIdentity": secure { $0.clientIdentity = .pkcs12(file: "/etc/x", password: "") },
            "allowInvalidCertificates": secure { $0 = .insecureForTests },
            "validatesDomainName": secure { $0.validatesDomainName = false },
            "minimumVersion": secure { $0.minimumVersion = .tls13 },
        ]

        private static let timeouts: [String: Treatment] = [
            "connect": .honored { fixture in
                let dead = try DeadPort.Silent()
                defer { withExtendedLifetime(dead) {} }
                try await expire(fixture.request(port: dead.port), .connect, fixture) {
                    $0.connect = .milliseconds(50)
                }
            },
            "idle": .honored { fixture in
                fixture.server.otherwise { _ in .silence(until: Gate()) }
                try await expire(fixture.request(), .idle, fixture) { $0.idle = .milliseconds(50) }
            },
            // The agent enforces the limit for all attempts.
            "total": .elsewhere,
        ]

        private static let requests: [String: Treatment] = [
            "method": .honored { fixture in
                _ = try await fixture.succeed(fixture.request("PURGE"))
                #expect(fixture.server.requests.last?.method == "PURGE")
            },
            "url": .honored { fixture in
                _ = try await fixture.succeed(fixture.request(.get, "/a", query: "b"))
                #expect(fixture.server.requests.last?.target == "/a?b")
            },
            "headers": .honored { fixture in
                _ = try await fixture.succeed(fixture.request(headers: [.accept: "a/b"]))
                #expect(fixture.server.requests.last?.header("Accept") == "a/b")
            },
            "body": .honored { fixture in
                _ = try await fixture.succeed(fixture.request(.put, body: .string("text")))
                #expect(fixture.server.requests.last?.body == Data("text".utf8))
            },
            "timeouts": .elsewhere,
            "options": .elsewhere,
        ]

        private static let pin = Data(repeating: 1, count: 32).base64EncodedString()

        private static func secure(
            _ change: @escaping @Sendable (inout SecurityPolicy) -> Void
        ) -> Treatment {
            .refused { request in
                var policy = SecurityPolicy()
                change(&policy)
                request.url.scheme = "https"
                request.options.security = policy
            }
        }

        /// A transfer that waits for the place of another one has its connect limit meanwhile.
        @Test func connectLimitCountsTheWaitForAConnection() async throws {
            let server = LoopbackServer()
            let gate = Gate()
            server.otherwise { _ in .silence(until: gate) }
            try await server.start()
            let configuration = URLSessionConfiguration.ephemeral
            configuration.httpMaximumConnectionsPerHost = 1
            let transport = URLSessionTransport(configuration: configuration)
            var request = TransportRequest(url: try HTTPURL(parsing: server.url("/a")))
            // Ends the test if the second transfer has no limit.
            request.timeouts = Timeouts(connect: nil, idle: .seconds(60))
            let first = RecordingReceiver()
            let transfer = transport.start(request, receiver: first)
            try await server.until { $0.requests == 1 }
            request.timeouts = Timeouts(connect: .milliseconds(50), idle: nil)
            let second = RecordingReceiver()
            _ = transport.start(request, receiver: second)
            let error = try await second.ended().end?.error
            #expect(error?.code == .timedOut && error?.timeout == .connect)
            #expect(server.status.accepted == 1)
            transfer.cancel()
            _ = try await first.ended()
            gate.open()
            transport.shutDown()
            await server.stop()
        }

        private static func expire(
            _ request: TransportRequest, _ kind: RequestError.TimeoutKind,
            _ fixture: ContractFixture, _ change: (inout Timeouts) -> Void
        ) async throws {
            var request = request
            request.timeouts = Timeouts(connect: nil, idle: nil)
            change(&request.timeouts)
            let record = try await fixture.fail(request, .timedOut)
            #expect(record.end?.error?.timeout == kind)
        }

        private static var all: [String: Treatment] {
            [options, security, timeouts, requests].reduce(into: [:]) { all, table in
                all.merge(table) { one, _ in one }
            }
        }

        /// The names of a value's stored properties, including those in its shared storage.
        private static func properties(of value: Any) -> Set<String> {
            var names: Set<String> = []
            for child in Mirror(reflecting: value).children {
                guard let label = child.label else { continue }
                if label == "shared", let fields = Mirror(reflecting: child.value).children.first {
                    names.formUnion(properties(of: fields.value))
                } else {
                    names.insert(label)
                }
            }
            return names
        }

        @Test func tablesNameEveryProperty() throws {
            let request = TransportRequest(url: try HTTPURL(parsing: "http://a.example/"))
            // The mirror of a request hides its storage.
            #expect(Self.properties(of: request.shared.value) == Set(Self.requests.keys))
            #expect(Self.properties(of: TransportOptions()) == Set(Self.options.keys))
            #expect(Self.properties(of: SecurityPolicy()) == Set(Self.security.keys))
            #expect(Self.properties(of: Timeouts()) == Set(Self.timeouts.keys))
            // An override is applied to the option with the same name before a transport receives the request.
            var all = TransportOverrides(httpVersion: .http2)
            all.decodesContent = false
            let shared = try #require(
                Mirror(reflecting: all).children.first { $0.label == "shared" })
            let storage = try #require(Mirror(reflecting: shared.value).children.first)
            let fields = try #require(Mirror(reflecting: storage.value).children.first)
            let overrides = Self.properties(of: fields.value)
            #expect(!overrides.isEmpty && overrides.isSubset(of: Self.options.keys))
        }

        @Test(arguments: all.keys.sorted())
        func optionIsHonoredOrRefused(name: String) async throws {
            try await ContractFixture.with(.sharedURLSession) { fixture async throws in
                fixture.server.otherwise { _ in LoopbackResponse(body: "text") }
                switch try #require(Self.all[name]) {
                case .elsewhere: break
                case .honored(let check): try await check(fixture)
                case .refused(let change):
                    var request = fixture.request()
                    change(&request)
                    try await refuse(request, fixture)
                }
            }
        }

        private func refuse(
            _ request: TransportRequest, _ fixture: ContractFixture
        ) async throws {
            let error = #expect(throws: RequestError.self) { try fixture.transport.check(request) }
            #expect(error?.code == .unsupported)
            try await fixture.fail(request, .unsupported)
            #expect(fixture.server.status.accepted == 0)
        }

        /// Exhaustive, so that a new case does not compile without a decision.
        private func isSupported(_ proxy: TransportOptions.ProxyPolicy) -> Bool {
            switch proxy {
            case .environment: true
            case .none, .url: false
            }
        }

        private func isSupported(
            _ version: TransportOptions.HTTPVersionPolicy, _ scheme: String
        ) -> Bool {
            switch version {
            case .automatic: true
            case .http11: scheme == "http"
            case .http2, .http2PriorKnowledge: false
            }
        }

        @Test func choicesAreHonoredOrRefused() async throws {
            try await ContractFixture.with(.urlSession) { fixture async throws in
                fixture.server.otherwise { _ in LoopbackResponse(body: "text") }
                for proxy in [.environment, .none, .url("http://a.example:1")]
                    as [TransportOptions.ProxyPolicy]
                {
                    var request = fixture.request()
                    request.options.proxy = proxy
                    if isSupported(proxy) {
                        try fixture.transport.check(request)
                    } else {
                        try await refuse(request, fixture)
                    }
                }
                for version in [.automatic, .http11, .http2, .http2PriorKnowledge]
                    as [TransportOptions.HTTPVersionPolicy]
                {
                    for scheme in ["http", "https"] where version != .http2 || scheme == "https" {
                        var request = fixture.request()
                        request.url.scheme = scheme
                        request.options.httpVersion = version
                        if isSupported(version, scheme) {
                            try fixture.transport.check(request)
                        } else {
                            try await refuse(request, fixture)
                        }
                    }
                }
            }
        }
    }
#endif
