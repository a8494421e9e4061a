import ErrandCore
import ErrandTesting
import ErrandTransport
import Foundation
import TestSupport
import Testing

/// The script and the request log of `ScriptedTransport`.
@Suite("ScriptedTransport", .limited)
struct ScriptedTransportTests {
    let transport = ScriptedTransport()

    private func run(_ method: HTTPMethod, _ path: String) async throws -> RecordingReceiver.Record
    {
        let receiver = RecordingReceiver()
        let url = HTTPURL(scheme: "http", host: "example.com", path: path)
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
        #expect(record.end?.error?.code == .unsupported)
        #expect(record.end?.error?.stage == .transport)
        #expect(transport.failures == ["POST http://example.com/a"])
    }

    @Test func errorOfAnUnscriptedRequestNamesTheRequestAndTheScripts() async throws {
        let empty = try await run(.get, "/a").end?.error?.message
        #expect(empty?.contains("GET http://example.com/a. Nothing is scripted.") == true)
        transport.on(.get, "/a", .json("1"))
        transport.on(nil, "/b", .json("1"))
        transport.on(.put, nil, .json("1"))
        transport.respond { _ in nil }
        let message = try await run(.post, "/a").end?.error?.message
        #expect(
            message?.contains(
                "POST http://example.com/a. Scripted: GET /a, any method /b, PUT any path, a closure"
            )
                == true)
    }

    @Test func longListsOfScriptsAreShortened() async throws {
        for number in 1...23 { transport.on(.get, "/\(number)", .json("1")) }
        let message = try await run(.get, "/a").end?.error?.message
        #expect(message?.contains("GET /20, and 3 more.") == true)
        #expect(message?.contains("GET /21") == false)
    }

    @Test func unscriptedRequestsAreListedUpToABound() async throws {
        for number in 1...1001 { _ = try await run(.get, "/\(number)") }
        #expect(transport.failures.count == 1000)
        #expect(transport.failures.first == "GET http://example.com/1")
        #expect(transport.requestCount == 1001)
    }

    // MARK: - Recorded requests

    private var paths: [String] { transport.requests.map(\.url.path) }

    private func send(_ paths: ClosedRange<Int>) async throws {
        for number in paths { _ = try await run(.get, "/\(number)") }
    }

    @Test func latestThousandRequestsAreKeptByDefault() async throws {
        transport.on(nil, nil, .json("1"))
        #expect(transport.maximumRecordedRequests == 1000)
        try await send(1...1000)
        #expect(paths.count == 1000 && paths.first == "/1" && transport.requestCount == 1000)
        try await send(1001...1003)
        #expect(paths == (4...1003).map { "/\($0)" })
        #expect(transport.requestCount == 1003)
    }

    @Test func numberOfKeptRequestsCanBeChanged() async throws {
        transport.on(nil, nil, .json("1"))
        transport.maximumRecordedRequests = 3
        try await send(1...5)
        #expect(paths == ["/3", "/4", "/5"])
        transport.maximumRecordedRequests = 5
        try await send(6...8)
        #expect(paths == ["/4", "/5", "/6", "/7", "/8"])
        transport.maximumRecordedRequests = 2
        #expect(paths == ["/7", "/8"])
        transport.maximumRecordedRequests = 0
        #expect(paths == ["/8"] && transport.maximumRecordedRequests == 1)
        try await send(9...9)
        #expect(paths == ["/9"] && transport.requestCount == 9)
    }

    @Test func nextRequestSkipsReleasedRequests() async throws {
        transport.on(nil, nil, .json("1"))
        transport.maximumRecordedRequests = 3
        try await send(1...2)
        #expect(try await transport.nextRequest().url.path == "/1")
        try await send(3...6)
        for path in ["/4", "/5", "/6"] {
            #expect(try await transport.nextRequest().url.path == path)
        }
        async let next = transport.nextRequest()
        try await send(7...7)
        #expect(try await next.url.path == "/7")
    }

    @Test func releasedRequestsFreeTheirBodies() async throws {
        final class Content: Sendable {}
        transport.on(nil, nil, .json("1"))
        transport.maximumRecordedRequests = 2
        weak var weakContent: Content?
        do {
            let content = Content()
            weakContent = content
            let url = HTTPURL(scheme: "http", host: "example.com", path: "/")
            let body = HTTPBody.stream {
                withExtendedLifetime(content) { AsyncStream<Data> { $0.finish() } }
            }
            let receiver = RecordingReceiver()
            _ = transport.start(
                TransportRequest(method: .post, url: url, body: body), receiver: receiver)
            _ = try await receiver.ended()
        }
        try await send(1...1)
        #expect(weakContent != nil)
        try await send(2...2)
        #expect(weakContent == nil)
    }

    @Test func laterScriptsTakePrecedence() async throws {
        transport.on(nil, nil, .json("old"))
        transport.on(.get, "/a", .json("new"))
        #expect(try await run(.get, "/a").body == Data("new".utf8))
        #expect(try await run(.post, "/a").body == Data("old".utf8))
        transport.respond { $0.url.path == "/a" ? .json("closure") : nil }
        #expect(try await run(.get, "/a").body == Data("closure".utf8))
        transport.respond { $0.url.path == "/a" ? .json("new closure") : nil }
        #expect(try await run(.get, "/a").body == Data("new closure".utf8))
        #expect(try await run(.get, "/other").body == Data("old".utf8))
    }

    @Test func requestBodyCanBeCollected() async throws {
        let url = HTTPURL(scheme: "http", host: "example.com", path: "/")
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
