import ErrandCore
import ErrandCurl
import ErrandTesting
import ErrandTransport
import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing

/// Unsolicited data from a server is not a response to the next request (RFC 9112 §9.2).
@Suite(.limited)
struct UnsolicitedResponseTests {
    private static let surplus = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nEVIL"

    /// Sends a surplus response on the first connection after the first response was received.
    private func server(
        _ response: String, firstReceived: Gate, surplusSent: Gate
    ) throws -> RawServer {
        try RawServer { connection in
            while connection.readHead() != nil {
                guard connection.number == 1, connection.responseCount == 0 else {
                    connection.respond("good")
                    continue
                }
                connection.write(response)
                let mayContinue = DispatchSemaphore(value: 0)
                Task {
                    try? await firstReceived.passed()
                    mayContinue.signal()
                }
                mayContinue.wait()
                connection.write(Self.surplus)
                surplusSent.open()
            }
        }
    }

    @Test(
        arguments: [
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", "HTTP/1.1 204 No\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
        ], [HTTPMethod.get, .post])
    func unsolicitedResponseIsNotUsedForNextRequest(
        response: String, method: HTTPMethod
    ) async throws {
        let (firstReceived, surplusSent) = (Gate(), Gate())
        let server = try server(response, firstReceived: firstReceived, surplusSent: surplusSent)
        let transport = CurlTransport()
        let first = try await transport.run(.get, server.url())
        #expect(first.error == nil)
        firstReceived.open()
        try await surplusSent.passed()
        // Another request makes the loop process the surplus data.
        let other = try RawServer { connection in
            while connection.readHead() != nil { connection.respond("hi") }
        }
        _ = try await transport.run(.get, other.url())
        let second = try await transport.run(
            method, server.url(), body: method == .post ? .string("x") : nil)
        #expect(second.error == nil)
        #expect(second.body == Data("good".utf8))
        #expect(server.connections == 2)
    }

    /// libcurl reads a full buffer, drops the surplus, and leaves the rest for the next request,
    /// which here starts as soon as the first one has ended.
    @Test func unsolicitedResponseIsNotUsedForImmediateRequest() async throws {
        let head = "HTTP/1.1 204 No\r\n\r\n"
        let server = try RawServer { connection in
            while connection.readHead() != nil {
                guard connection.number == 1 else {
                    connection.respond("good")
                    continue
                }
                let filler = String(repeating: "x", count: (32 << 10) - head.utf8.count)
                connection.write(head + filler + Self.surplus)
            }
        }
        let transport = CurlTransport()
        let following = Following(transport, TransportRequest(url: try .test(server.url())))
        let first = try await following.run()
        #expect(first.error == nil)
        let second = try await following.second.ended()
        #expect(second.error == nil)
        #expect(second.body == Data("good".utf8))
    }

    /// libcurl gives the connection of the first request to the one that waits for it, without a
    /// turn of the loop in between.
    @Test func unsolicitedResponseIsNotUsedForWaitingRequest() async throws {
        let head = "HTTP/1.1 204 No\r\n\r\n"
        let mayRespond = DispatchSemaphore(value: 0)
        let server = try RawServer { connection in
            while connection.readHead() != nil {
                guard connection.number == 1, connection.responseCount == 0 else {
                    connection.respond("good")
                    continue
                }
                mayRespond.wait()
                let filler = String(repeating: "x", count: (32 << 10) - head.utf8.count)
                connection.write(head + filler + Self.surplus)
            }
        }
        let transport = CurlTransport {
            $0.connectionsPerHost = 1
        }
        let request = TransportRequest(url: try .test(server.url()))
        let recorders = (0..<3).map { _ in RecordingReceiver() }
        for recorder in recorders { _ = transport.start(request, receiver: recorder) }
        // The loop has read the starts when a later request has ended.
        let other = try RawServer { connection in
            while connection.readHead() != nil { connection.respond("hi") }
        }
        #expect(try await transport.run(.get, other.url()).error == nil)
        mayRespond.signal()
        #expect(try await recorders[0].ended().head?.status.code == 204)
        for recorder in recorders.dropFirst() {
            let record = try await recorder.ended()
            #expect(record.error == nil, "\(String(describing: record.error))")
            #expect(record.body == Data("good".utf8))
        }
    }

    /// A server that responds before it has read the whole request, and then reads it, keeps the
    /// connection.
    @Test func earlyResponseKeepsConnection() async throws {
        let server = try RawServer { connection in
            while let head = connection.readHead() {
                connection.respond("hi")
                _ = connection.readBody(of: head)
            }
        }
        let transport = CurlTransport()
        let body = HTTPBody.data(Data(count: 8 << 20), contentType: nil)
        for _ in 0..<3 {
            let record = try await transport.run(.put, server.url(), body: body)
            #expect(record.error == nil && record.body == Data("hi".utf8))
            #expect(try await transport.run(.get, server.url()).error == nil)
        }
        #expect(server.connections == 1)
    }

    /// A paused connection looks idle, but its input belongs to the body.
    @Test func bodyBytesDuringPauseAreKept() async throws {
        let server = try RawServer { connection in
            guard connection.readHead() != nil else { return }
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\r\n")
            for _ in 0..<300 { connection.write([UInt8](repeating: 0x61, count: 1000)) }
        }
        let recorder = RecordingReceiver { $0.chunks == 1 ? .pause : .more }
        let request = TransportRequest(method: .get, url: try .test(server.url()))
        let transport = CurlTransport()
        let transfer = transport.start(request, receiver: recorder)
        try await recorder.until { $0.chunks == 1 }
        // Another request makes the loop run meanwhile.
        let other = try RawServer { connection in
            while connection.readHead() != nil { connection.respond("hi") }
        }
        for _ in 0..<5 { _ = try await transport.run(.get, other.url()) }
        transfer.resumeReceiving()
        let record = try await recorder.ended()
        #expect(record.error == nil && record.body.count == 300_000)
    }
}

/// Starts a second transfer from inside the end callback of the first.
private final class Following: TransferReceiver {
    let second = RecordingReceiver()
    private let first = RecordingReceiver()
    private let transport: CurlTransport
    private let request: TransportRequest

    init(_ transport: CurlTransport, _ request: TransportRequest) {
        self.transport = transport
        self.request = request
    }

    func run() async throws -> RecordingReceiver.Record {
        _ = transport.start(request, receiver: self)
        return try await first.ended()
    }

    func didReceive(head: ResponseHead) { first.didReceive(head: head) }

    func didReceive(bytes: UnsafeRawBufferPointer) -> Demand { first.didReceive(bytes: bytes) }

    func didEnd(_ end: TransferEnd) {
        _ = transport.start(request, receiver: second)
        first.didEnd(end)
    }
}
