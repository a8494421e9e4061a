import ErrandCore
import ErrandTesting
import ErrandTransport
import Foundation
import TestSupport
import Testing

/// Scripted and served responses whose body arrives in pieces.
@Suite("Scripted and served streams", .limited)
struct StreamScriptTests {
    private let transport = ScriptedTransport()

    private func start(_ response: ScriptedResponse) -> RecordingReceiver {
        transport.on(nil, nil, response)
        let receiver = RecordingReceiver()
        let url = HTTPURL(scheme: "http", host: "example.com", path: "/")
        _ = transport.start(TransportRequest(url: url), receiver: receiver)
        return receiver
    }

    private static let words = ["one ", "two ", "three"].map { Data($0.utf8) }

    /// Checks that each chunk arrives, and that the next one waits for its gate.
    @Test func chunksWaitForTheirGates() async throws {
        let gates = Self.words.map { _ in Gate() }
        let receiver = start(
            .stream(
                status: .created, headers: [.contentType: "text/plain"], chunks: Self.words,
                gates: gates, trailers: [.eTag: "t"]))
        let head = try await receiver.headCame()
        #expect(head.status == .created && head.headers[.contentType] == "text/plain")
        #expect(head.contentLength == nil)
        var expected = Data()
        for (word, gate) in zip(Self.words, gates) {
            expected += word
            try await gate.reached()
            #expect(receiver.record.body == expected && receiver.record.end == nil)
            gate.open()
        }
        let record = try await receiver.ended()
        #expect(record.end?.error == nil && record.end?.trailers[.eTag] == "t")
        #expect(record.chunks == 3)
    }

    @Test func moreGatesThanChunksDelayTheEnd() async throws {
        let (first, second) = (Gate(), Gate())
        first.open()
        let receiver = start(.stream(chunks: [Data("a".utf8)], gates: [first, second]))
        try await second.reached()
        #expect(receiver.record.received == 1 && receiver.record.end == nil)
        second.open()
        #expect(try await receiver.ended().end?.error == nil)
    }

    @Test func eventsHaveTheirContentType() async throws {
        let record = try await start(.events(["data: 1", "id: 2\ndata: b"])).ended()
        #expect(record.head?.headers[.contentType] == "text/event-stream")
        #expect(record.body == Data("data: 1\n\nid: 2\ndata: b\n\n".utf8))
        #expect(record.chunks == 2)
        let other = try await start(.events([], headers: [.contentType: "text/plain"])).ended()
        #expect(other.head?.headers[.contentType] == "text/plain" && other.received == 0)
    }

    @Test(arguments: 1...14)
    func bodyIsSplitEveryBytes(count: Int) async throws {
        let body = Data("thirteen byte".utf8)
        let record = try await start(ScriptedResponse(body: body).split(everyBytes: count)).ended()
        #expect(record.body == body)
        #expect(record.chunks == (13 + count - 1) / count)
    }

    @Test(arguments: 0...14)
    func responseFailsAfterAnyByte(count: Int) async throws {
        let response = ScriptedResponse.stream(chunks: Self.words).failing(afterBytes: count)
        let record = try await start(response).ended()
        #expect(record.head?.status == .ok)
        #expect(record.received == min(count, 13))
        #expect(record.end?.error?.code == .connectionLost)
    }

    @Test func failureComesBeforeTheNextGate() async throws {
        let gate = Gate()
        let error = RequestError(.timedOut, stage: .transport, "Late.", timeout: .idle)
        let record = try await start(
            .stream(chunks: Self.words, gates: [gate]).failing(afterBytes: 4, with: error)
        ).ended()
        #expect(record.body == Self.words[0])
        #expect(record.end?.error?.timeout == .idle)
        #expect(gate.arrivals == 0)
    }

    // MARK: - LoopbackServer

    @Test func servedChunksWaitForTheirGates() async throws {
        let server = LoopbackServer()
        let gates = [Gate(), Gate(), Gate()]
        server.otherwise { _ in
            .chunked(
                status: 201, headers: ["X-A": "1"], Self.words, gates: gates, trailers: ["X-T": "t"]
            )
        }
        try await server.start()
        let client = try RawClient(port: server.port)
        client.send("GET / HTTP/1.1\r\n\r\n")
        let head = client.read(until: "\r\n\r\n")
        #expect(head == "HTTP/1.1 201 Status\r\nX-A: 1\r\nTransfer-Encoding: chunked\r\n\r\n")
        for (text, gate) in zip(["4\r\none \r\n", "4\r\ntwo \r\n", "5\r\nthree\r\n"], gates) {
            #expect(client.read(until: text) == text)
            #expect(!gate.isOpen)
            gate.open()
        }
        #expect(client.read(until: "\r\n\r\n") == "0\r\nX-T: t\r\n\r\n")
        client.close()
        await server.stop()
    }

    @Test func servedEventsKeepTheConnectionOpen() async throws {
        let server = LoopbackServer()
        let gate = Gate()
        server.otherwise { _ in .events(["data: 1"], gates: [gate]) }
        try await server.start()
        let client = try RawClient(port: server.port)
        client.send("GET / HTTP/1.1\r\n\r\n")
        #expect(client.read(until: "\r\n\r\n").contains("Content-Type: text/event-stream\r\n"))
        #expect(client.read(until: "\n\n\r\n") == "9\r\ndata: 1\n\n\r\n")
        try await gate.reached()
        #expect(server.status.open == 1)
        client.close()
        // The server notices the disconnection at the gate.
        try await server.until { $0.open == 0 }
        #expect(!gate.isOpen)
        await server.stop()
    }
}
