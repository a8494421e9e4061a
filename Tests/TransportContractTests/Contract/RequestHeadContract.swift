import ErrandCore
import ErrandTesting
import Foundation
import Testing

/// Headers go out as given, and none is invented.
@Suite("Contract: request headers", .timeLimit(.minutes(1)))
struct RequestHeadContract {
    private func sent(
        _ subject: Subject, _ headers: HTTPFields, body: HTTPBody? = nil
    ) async throws -> LoopbackRequest {
        var result: LoopbackRequest?
        try await ContractWorld.with(subject) { world async throws in
            world.server.otherwise { _ in LoopbackAnswer() }
            let method: HTTPMethod = body == nil ? .get : .post
            _ = try await world.succeed(world.request(method, headers: headers, body: body))
            result = world.server.requests.first
        }
        return try #require(result)
    }

    private func name(_ text: String) throws -> HTTPField.Name {
        try #require(HTTPField.Name(text))
    }

    @Test(arguments: Subject.wire)
    func arrive(subject: Subject) async throws {
        let request = try await sent(
            subject,
            [
                .userAgent: "Errand/1", .accept: "text/plain", .authorization: "Bearer t",
                try name("X-Custom"): "a: b; c",
            ])
        #expect(request.header("User-Agent") == "Errand/1")
        #expect(request.values(of: "Accept") == ["text/plain"])
        #expect(request.header("Authorization") == "Bearer t")
        #expect(request.header("X-Custom") == "a: b; c")
    }

    @Test(arguments: Subject.wire)
    func noneIsInvented(subject: Subject) async throws {
        let request = try await sent(subject, [:])
        let allowed: Set = ["host", "accept", "accept-encoding", "connection"]
        let extra = request.headers.map { $0.name.lowercased() }.filter { !allowed.contains($0) }
        #expect(extra.isEmpty)
        #expect(request.values(of: "Host").count == 1)
    }

    /// The usual value is one that a transport may write by itself.
    @Test(arguments: Subject.wire)
    func acceptGoesOutOnce(subject: Subject) async throws {
        let usual = try await sent(subject, [.accept: "*/*"])
        #expect(usual.values(of: "Accept") == ["*/*"])
        var two: HTTPFields = [.accept: "*/*"]
        two.append(HTTPField(name: .accept, value: "text/plain"))
        let values = try await sent(subject, two).values(of: "Accept")
            .flatMap { $0.split(separator: ",") }
            .map { $0.trimmingCharacters(in: .whitespaces) }
        #expect(values.sorted() == ["*/*", "text/plain"])
    }

    @Test(arguments: Subject.wire)
    func contentTypeIsTheBodys(subject: Subject) async throws {
        let plain = try await sent(subject, [:], body: .data(Data("x".utf8), contentType: "a/b"))
        #expect(plain.values(of: "Content-Type") == ["a/b"])
        let named = try await sent(
            subject, [.contentType: "c/d"], body: .data(Data("x".utf8), contentType: "a/b"))
        #expect(named.values(of: "Content-Type") == ["c/d"])
        let none = try await sent(subject, [:], body: .data(Data("x".utf8), contentType: nil))
        #expect(none.values(of: "Content-Type").isEmpty)
    }

    @Test(arguments: Subject.wire)
    func severalOfOneNameArrive(subject: Subject) async throws {
        var headers = HTTPFields()
        for value in ["one", "two", "three"] {
            headers.append(HTTPField(name: try name("X-Many"), value: value))
        }
        let values = try await sent(subject, headers).values(of: "X-Many")
        if subject.capabilities.contains(.repeatedRequestHeaders) {
            #expect(values == ["one", "two", "three"])
        } else {
            #expect(values == ["one, two, three"])
        }
    }

    @Test(arguments: Subject.wire(with: .repeatedRequestHeaders))
    func orderAndCaseAreKept(subject: Subject) async throws {
        var headers = HTTPFields()
        let names = ["x-zebra", "X-Apple", "x-MANGO", "X-Berry"]
        for text in names { headers.append(HTTPField(name: try name(text), value: "1")) }
        let request = try await sent(subject, headers)
        #expect(request.headers.map(\.name).filter(names.contains) == names)
    }

    @Test(arguments: Subject.wire)
    func largeOnesArrive(subject: Subject) async throws {
        let value = String(repeating: "v", count: 60_000)
        let request = try await sent(subject, [try name("X-Large"): value])
        #expect(request.header("X-Large") == value)
    }

    @Test(arguments: Subject.wire)
    func utf8ValuesArrive(subject: Subject) async throws {
        let request = try await sent(subject, [try name("X-Text"): "grün"])
        #expect(request.header("X-Text") == "grün")
    }
}
