import ErrandCore
import ErrandTesting
import ErrandTransport
import Foundation
import Testing

/// The script and the request log of `ScriptedTransport`.
@Suite("ScriptedTransport", .timeLimit(.minutes(5)))
struct ScriptedTransportTests {
    let transport = ScriptedTransport()

    private func run(_ method: HTTPMethod, _ path: String) async throws -> RecordingReceiver.Record
    {
        let receiver = RecordingReceiver()
        let url = URI(scheme: "http", host: "example.com", path: path)
        _ = transport.start(TransportRequest(method: method, url: url), receiver: receiver)
        return try await receiver.ended()
    }

    @Test func responsesAreUsedInOrderAndTheLastRepeats() async throws {
        transport.on(.get, "/a", .json("1"), .json("2"))
        let bodies = [
            try await run(.get, "/a"), try await run(.get, "/a"), try await run(.get, "/a"),
        ]
        #expect(bodies.map { String(decoding: $0.body, as: UTF8.self) } == ["1", "2", "2"])
        #expect(transport.requests.count == 3 && transport.failures.isEmpty)
    }

    @Test func unscriptedRequestsFailAndAreRecorded() async throws {
        transport.on(.get, "/a", .json("1"))
        let record = try await run(.post, "/a")
        #expect(record.end?.error?.code == .transportFailed)
        #expect(transport.failures == ["POST http://example.com/a"])
    }

    @Test func laterScriptsTakePrecedence() async throws {
        transport.on(nil, nil, .json("old"))
        transport.respond { $0.url.path == "/new" ? .json("new") : nil }
        #expect(try await run(.get, "/new").body == Data("new".utf8))
        #expect(try await run(.get, "/other").body == Data("old".utf8))
    }

    @Test func requestBodyCanBeCollected() async throws {
        let url = URI(scheme: "http", host: "example.com", path: "/")
        let body = HTTPBody.stream {
            AsyncStream<Data> { continuation in
                for part in ["a", "b"] { continuation.yield(Data(part.utf8)) }
                continuation.finish()
            }
        }
        let request = TransportRequest(method: .post, url: url, body: body)
        let bytes = try await request.collectedBody()
        #expect(bytes == Data("ab".utf8))
        let none = try await TransportRequest(url: url).collectedBody()
        #expect(none.isEmpty)
    }

    @Test func gateHoldsTheResponse() async throws {
        let gate = Gate()
        transport.on(nil, nil, ScriptedResponse.json("1").held(by: gate))
        async let record = run(.get, "/")
        try await gate.reached()
        #expect(transport.inFlight == 1)
        gate.open()
        #expect(try await record.end?.error == nil)
        try await transport.untilIdle()
    }
}
