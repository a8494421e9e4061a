import ErrandCore
import ErrandTesting
import ErrandTransport
import Foundation
import TestSupport
import Testing

/// A method may be any token and is sent unchanged (RFC 9110 §9.1).
@Suite("Contract: methods", .limited)
struct MethodContract {
    @Test(
        arguments: TransportKind.wire,
        ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND", "PURGE", "X-My_method"])
    func methodIsSentUnchanged(kind: TransportKind, method: String) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.server.otherwise { LoopbackResponse(body: $0.method) }
            let record = try await fixture.succeed(fixture.request(HTTPMethod(method)))
            #expect(record.head?.status.code == 200)
            #expect(String(decoding: record.body, as: UTF8.self) == method)
            #expect(fixture.server.requests.first?.bodyBytes == 0)
        }
    }

    @Test(arguments: TransportKind.wire)
    func headResponseHasNoBody(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.server.otherwise { _ in LoopbackResponse(body: "twelve bytes") }
            let record = try await fixture.succeed(fixture.request(.head))
            #expect(record.head?.headers[.contentLength] == "12")
            #expect(record.received == 0)
            // The next request still succeeds.
            #expect(try await fixture.succeed(fixture.request()).received == 12)
        }
    }

    @Test(arguments: TransportKind.wire, ["GET /x", "A\r\nB: c", ""])
    func invalidMethodIsRejected(kind: TransportKind, method: String) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            let request = fixture.request(HTTPMethod(method))
            let error = #expect(throws: RequestError.self) { try fixture.transport.check(request) }
            #expect(error?.code == .invalidMethod)
            try await fixture.fail(request, .invalidMethod)
            #expect(fixture.server.status.accepted == 0)
        }
    }

    @Test(arguments: TransportKind.wire)
    func targetIsSentUnchanged(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            let path = "/a%2Fb//c/%C3%BC;v=1"
            let query = "q=1&q=2&e=&x=%20+~'()*!$,:@/?"
            fixture.server.route(path) { _ in LoopbackResponse() }
            _ = try await fixture.succeed(fixture.request(.get, path, query: query))
            #expect(fixture.server.requests.first?.target == "\(path)?\(query)")
        }
    }

    @Test(arguments: TransportKind.wire(with: .bodyWithGET))
    func getWithBodyIsSent(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.server.otherwise { _ in LoopbackResponse() }
            _ = try await fixture.succeed(fixture.request(.get, body: .string("asked")))
            #expect(fixture.server.requests.first?.method == "GET")
            #expect(fixture.server.requests.first?.body == Data("asked".utf8))
        }
    }
}
