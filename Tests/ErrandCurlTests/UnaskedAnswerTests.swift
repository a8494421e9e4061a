import ErrandCore
import ErrandCurl
import ErrandTesting
import Foundation
import HTTPTypes
import Synchronization
import Testing

/// What a server says while nobody has asked is no answer, least of all to the next request (RFC 9112 §9.2).
@Suite(.timeLimit(.minutes(5)))
struct UnaskedAnswerTests {
    private static let surplus = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nEVIL"

    /// Says more on the first connection than was asked, when the first answer has been taken.
    private func server(_ answer: String, told: Gate, said: Gate) throws -> RawServer {
        try RawServer { connection in
            while connection.readHead() != nil {
                guard connection.number == 1, connection.answered == 0 else {
                    connection.answer("good")
                    continue
                }
                connection.write(answer)
                let isTold = DispatchSemaphore(value: 0)
                Task {
                    try? await told.passed()
                    isTold.signal()
                }
                isTold.wait()
                connection.write(Self.surplus)
                said.open()
            }
        }
    }

    @Test(
        arguments: [
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", "HTTP/1.1 204 No\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
        ], [HTTPMethod.get, .post])
    func isNotTakenForTheNext(answer: String, method: HTTPMethod) async throws {
        let (told, said) = (Gate(), Gate())
        let server = try server(answer, told: told, said: said)
        let transport = CurlTransport()
        let first = try await transport.run(.get, server.url())
        #expect(first.error == nil)
        told.open()
        try await said.passed()
        // Whatever else makes the loop turn makes it see what was said.
        let other = try RawServer { connection in
            while connection.readHead() != nil { connection.answer("hi") }
        }
        _ = try await transport.run(.get, other.url())
        let second = try await transport.run(
            method, server.url(), body: method == .post ? .string("x") : nil)
        #expect(second.error == nil)
        #expect(second.body == Data("good".utf8))
        #expect(server.connections == 2)
    }

    /// libcurl reads a buffer full, drops what is too much, and leaves the rest to whoever comes next: here a request that
    /// begins as soon as the first one has ended.
    @Test func isNotTakenForTheNextThatBeginsAtOnce() async throws {
        let head = "HTTP/1.1 204 No\r\n\r\n"
        let server = try RawServer { connection in
            while connection.readHead() != nil {
                guard connection.number == 1 else {
                    connection.answer("good")
                    continue
                }
                let filler = String(repeating: "x", count: (32 << 10) - head.utf8.count)
                connection.write(head + filler + Self.surplus)
            }
        }
        let transport = CurlTransport()
        let following = Following(transport, TransportRequest(url: try .test(server.url())))
        let first = await following.run()
        #expect(first.error == nil)
        let second = await following.second.end()
        #expect(second.error == nil)
        #expect(second.body == Data("good".utf8))
    }

    /// Who answers before the whole request has come, and then reads it, may go on with the connection.
    @Test func anEarlyAnswerCostsNoConnection() async throws {
        let server = try RawServer { connection in
            while let head = connection.readHead() {
                connection.answer("hi")
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

    /// A pause looks like idleness: what comes then is the body.
    @Test func whatComesInAPauseIsKept() async throws {
        let server = try RawServer { connection in
            guard connection.readHead() != nil else { return }
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\r\n")
            for _ in 0..<300 { connection.write([UInt8](repeating: 0x61, count: 1000)) }
        }
        let recorder = Recorder { number in number == 1 ? .pause : .more }
        let request = TransportRequest(method: .get, url: try .test(server.url()))
        let transport = CurlTransport()
        let transfer = transport.start(request, receiver: recorder)
        await recorder.wait { $0.chunks == 1 }
        // Another request makes the loop turn meanwhile.
        let other = try RawServer { connection in
            while connection.readHead() != nil { connection.answer("hi") }
        }
        for _ in 0..<5 { _ = try await transport.run(.get, other.url()) }
        transfer.resumeReceiving()
        let record = await recorder.end()
        #expect(record.error == nil && record.body.count == 300_000)
    }
}

/// Starts a second transfer from inside the end of the first.
private final class Following: TransferReceiver {
    let second = Recorder()
    private let first = Recorder()
    private let transport: CurlTransport
    private let request: TransportRequest

    init(_ transport: CurlTransport, _ request: TransportRequest) {
        self.transport = transport
        self.request = request
    }

    func run() async -> Recorder.Record {
        _ = transport.start(request, receiver: self)
        return await first.end()
    }

    func didReceive(head: ResponseHead) { first.didReceive(head: head) }

    func didReceive(bytes: UnsafeRawBufferPointer) -> Demand { first.didReceive(bytes: bytes) }

    func didEnd(_ end: TransferEnd) {
        _ = transport.start(request, receiver: second)
        first.didEnd(end)
    }
}
