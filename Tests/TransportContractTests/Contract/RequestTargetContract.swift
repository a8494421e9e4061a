import ErrandCore
import ErrandTesting
import ErrandTransport
import TestSupport
import Testing

/// A request reaches the host of its URL, or is refused before anything is sent.
@Suite("Contract: request targets", .limited)
struct RequestTargetContract {
    /// Runs a test with a second server, to which nothing may be sent.
    private func withOtherServer(
        _ kind: TransportKind, _ body: (ContractFixture, Int) async throws -> Void
    ) async throws {
        let other = LoopbackServer()
        try await other.start()
        do {
            try await ContractFixture.with(kind) { fixture async throws in
                fixture.server.otherwise { _ in LoopbackResponse() }
                try await body(fixture, other.port)
            }
            #expect(other.status.accepted == 0)
        } catch {
            await other.stop()
            throw error
        }
        await other.stop()
    }

    private func refuse(
        _ request: TransportRequest, _ code: RequestError.Code, _ fixture: ContractFixture
    ) async throws {
        let error = #expect(throws: RequestError.self) { try fixture.transport.check(request) }
        #expect(error?.code == code)
        // Without `check`, the transfer ends with the same error.
        try await fixture.fail(request, code)
        #expect(fixture.server.status.accepted == 0)
    }

    @Test(arguments: TransportKind.wire)
    func pathCannotNameAnotherHost(kind: TransportKind) async throws {
        try await withOtherServer(kind) { fixture, port async throws in
            for path in ["@127.0.0.1:\(port)/x", ":\(port)/x", "//127.0.0.1:\(port)/x"] {
                var request = fixture.request()
                request.url.path = path
                _ = try await fixture.succeed(request)
                #expect(
                    fixture.server.requests.last?.target
                        == (path.hasPrefix("/") ? path : "/" + path))
            }
        }
    }

    @Test(arguments: TransportKind.wire)
    func hostCannotNameAnotherHost(kind: TransportKind) async throws {
        try await withOtherServer(kind) { fixture, port async throws in
            for host in ["127.0.0.1:\(fixture.server.port)@127.0.0.1", "127.0.0.1:\(port)/", "a#"] {
                var request = fixture.request(port: port)
                request.url.host = host
                try await refuse(request, .invalidURL, fixture)
            }
        }
    }

    /// The loopback address is connected to in every spelling, and named as it is judged.
    @Test(arguments: TransportKind.wire, ["127.1", "0x7f.1", "2130706433", "127。0。0。1"])
    func addressesAreSentInCanonicalForm(kind: TransportKind, spelling: String) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.server.otherwise { _ in LoopbackResponse() }
            let url = try HTTPURL(parsing: "http://\(spelling):\(fixture.server.port)/x")
            #expect(url.host == "127.0.0.1")
            _ = try await fixture.succeed(TransportRequest(url: url))
            #expect(
                fixture.server.requests.first?.values(of: "Host")
                    == ["127.0.0.1:\(fixture.server.port)"])
        }
    }

    @Test(arguments: TransportKind.wire)
    func proxyAuthorizationIsNotSentToTheServer(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            let headers: HTTPFields = [.proxyAuthorization: "Basic c2VjcmV0"]
            var request = fixture.request(headers: headers)
            try await refuse(request, .invalidHeader, fixture)
            request.url.scheme = "https"
            try await refuse(request, .invalidHeader, fixture)
        }
    }
}
