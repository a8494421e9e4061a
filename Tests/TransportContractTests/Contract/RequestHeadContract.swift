import ErrandCore
import ErrandTesting
import Foundation
import TestSupport
import Testing

/// Transports send request headers as given and add only the necessary ones.
@Suite("Contract: request headers", .limited)
struct RequestHeadContract {
    private func sent(
        _ kind: TransportKind, _ headers: HTTPFields, body: HTTPBody? = nil
    ) async throws -> LoopbackRequest {
        var result: LoopbackRequest?
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.server.otherwise { _ in LoopbackResponse() }
            let method: HTTPMethod = body == nil ? .get : .post
            _ = try await fixture.succeed(fixture.request(method, headers: headers, body: body))
            result = fixture.server.requests.first
        }
        return try #require(result)
    }

    private func name(_ text: String) throws -> HTTPField.Name {
        try #require(HTTPField.Name(text))
    }

    @Test(arguments: TransportKind.wire)
    func headersAreSent(kind: TransportKind) async throws {
        let request = try await sent(
            kind,
            [
                .userAgent: "Errand/1", .accept: "text/plain", .authorization: "Bearer t",
                try name("X-Custom"): "a: b; c",
            ])
        #expect(request.header("User-Agent") == "Errand/1")
        #expect(request.values(of: "Accept") == ["text/plain"])
        #expect(request.header("Authorization") == "Bearer t")
        #expect(request.header("X-Custom") == "a: b; c")
    }

    @Test(arguments: TransportKind.wire)
    func noOtherHeadersAreSent(kind: TransportKind) async throws {
        let request = try await sent(kind, [:])
        let allowed: Set = ["host", "accept", "accept-encoding", "connection"]
        let extra = request.headers.map { $0.name.lowercased() }.filter { !allowed.contains($0) }
        #expect(extra.isEmpty)
        #expect(request.values(of: "Host").count == 1)
    }

    /// A transport may write `Accept: */*` by default and must not send it twice.
    @Test(arguments: TransportKind.wire)
    func acceptHeaderIsNotDuplicated(kind: TransportKind) async throws {
        let single = try await sent(kind, [.accept: "*/*"])
        #expect(single.values(of: "Accept") == ["*/*"])
        var two: HTTPFields = [.accept: "*/*"]
        two.append(HTTPField(name: .accept, value: "text/plain"))
        let values = try await sent(kind, two).values(of: "Accept")
            .flatMap { $0.split(separator: ",") }
            .map { $0.trimmingCharacters(in: .whitespaces) }
        #expect(values.sorted() == ["*/*", "text/plain"])
    }

    @Test(arguments: TransportKind.wire)
    func contentTypeComesFromTheBody(kind: TransportKind) async throws {
        let plain = try await sent(kind, [:], body: .data(Data("x".utf8), contentType: "a/b"))
        #expect(plain.values(of: "Content-Type") == ["a/b"])
        let named = try await sent(
            kind, [.contentType: "c/d"], body: .data(Data("x".utf8), contentType: "a/b"))
        #expect(named.values(of: "Content-Type") == ["c/d"])
        let none = try await sent(kind, [:], body: .data(Data("x".utf8), contentType: nil))
        #expect(none.values(of: "Content-Type").isEmpty)
    }

    @Test(arguments: TransportKind.wire)
    func repeatedHeadersAreSent(kind: TransportKind) async throws {
        var headers = HTTPFields()
        for value in ["one", "two", "three"] {
            headers.append(HTTPField(name: try name("X-Many"), value: value))
        }
        let values = try await sent(kind, headers).values(of: "X-Many")
        if kind.capabilities.contains(.repeatedRequestHeaders) {
            #expect(values == ["one", "two", "three"])
        } else {
            #expect(values == ["one, two, three"])
        }
    }

    @Test(arguments: TransportKind.wire(with: .repeatedRequestHeaders))
    func headerOrderAndCaseArePreserved(kind: TransportKind) async throws {
        var headers = HTTPFields()
        let names = ["x-zebra", "X-Apple", "x-MANGO", "X-Berry"]
        for text in names { headers.append(HTTPField(name: try name(text), value: "1")) }
        let request = try await sent(kind, headers)
        #expect(request.headers.map(\.name).filter(names.contains) == names)
    }

    @Test(arguments: TransportKind.wire)
    func largeHeaderIsSent(kind: TransportKind) async throws {
        let value = String(repeating: "v", count: 60_000)
        let request = try await sent(kind, [try name("X-Large"): value])
        #expect(request.header("X-Large") == value)
    }

    @Test(arguments: TransportKind.wire)
    func utf8HeaderValueIsSent(kind: TransportKind) async throws {
        let request = try await sent(kind, [try name("X-Text"): "grün"])
        #expect(request.header("X-Text") == "grün")
    }
}
