import ErrandTransport
import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import ErrandCurl

/// The connection of a request that receives 101 belongs to its receiver (RFC 9110 §7.8).
@Suite(.limited)
struct ConnectionOwnerTests {
    private static let head =
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: upgrade\r\n\r\n"

    private func request(_ server: RawServer, offersUpgrade: Bool = true) throws
        -> TransportRequest
    {
        var request = TransportRequest(url: try HTTPURL.test(server.url()))
        if offersUpgrade {
            request.headers[.upgrade] = "echo"
            request.headers[.connection] = "upgrade"
        }
        return request
    }

    private let transport = CurlTransport()

    /// Sends back what arrives, up to the end of the client's direction.
    private static func echo(_ connection: RawConnection, beginning: String = "") {
        guard let request = connection.readHead() else { return }
        #expect(request.contains("Upgrade: echo"))
        connection.write(head + beginning)
        while connection.waitForBytes() {
            guard connection.write(connection.readBody(1)) else { return }
        }
    }

    @Test(arguments: ["", "early", String(repeating: "x", count: 100_000)])
    func bytesFlowInBothDirectionsAndBothSidesEnd(early: String) async throws {
        let server = try RawServer { Self.echo($0, beginning: early) }
        let owner = RecordingOwner()
        var request = try request(server)
        // The limits of a body do not apply to another protocol.
        request.options.maximumBodyBytes = 1
        _ = transport.start(request, receiver: owner)
        var record = try await owner.until {
            $0.input.count == early.utf8.count && !$0.heads.isEmpty
        }
        #expect(record.heads.map(\.status.code) == [101])
        #expect(record.heads[0].headers[.upgrade] == "echo")
        owner.send("one ")
        record = try await owner.until { $0.input.count == early.utf8.count + 4 }
        owner.send("two")
        owner.sending.finish()
        record = try await owner.until { !$0.ends.isEmpty }
        #expect(record.input == Data((early + "one two").utf8))
        #expect(record.hasInputEnded && record.ends.count == 1 && record.finalHeads == 0)
        #expect(record.ends[0].error == nil)
        // The connection is not used again.
        let next = try await transport.run(.get, server.url(), headers: [.upgrade: "echo"])
        #expect(next.error?.code == .badServerResponse)
        #expect(server.connections == 2)
    }

    @Test func clientMayContinueAfterTheServerHasEnded() async throws {
        let received = Mutex("")
        let (isComplete, complete) = AsyncStream<Void>.makeStream()
        let server = try RawServer { connection in
            _ = connection.readHead()
            connection.write(Self.head + "bye")
            connection.finishSending()
            let bytes = connection.readBody(1000)
            received.withLock { $0 = String(decoding: bytes, as: UTF8.self) }
            complete.finish()
        }
        let owner = RecordingOwner()
        _ = transport.start(try request(server), receiver: owner)
        var record = try await owner.until { $0.hasInputEnded }
        #expect(record.input == Data("bye".utf8) && record.ends.isEmpty)
        owner.send("late")
        owner.sending.finish()
        record = try await owner.until { !$0.ends.isEmpty }
        #expect(record.ends.count == 1 && record.ends[0].error == nil)
        for await _ in isComplete {}
        #expect(received.withLock { $0 } == "late")
    }

    @Test func cancellationClosesTheConnection() async throws {
        let (isClosed, closed) = AsyncStream<Void>.makeStream()
        let server = try RawServer { connection in
            _ = connection.readHead()
            connection.write(Self.head)
            connection.waitForClose()
            closed.finish()
        }
        let owner = RecordingOwner()
        let transfer = transport.start(try request(server), receiver: owner)
        _ = try await owner.until { !$0.heads.isEmpty }
        transfer.cancel()
        let record = try await owner.until { !$0.ends.isEmpty }
        #expect(record.ends.count == 1 && record.ends[0].error?.code == .cancelled)
        for await _ in isClosed {}
    }

    @Test func lostConnectionFails() async throws {
        let server = try RawServer { connection in
            _ = connection.readHead()
            connection.write(Self.head)
            _ = connection.readBody(2)
            connection.reset()
        }
        let owner = RecordingOwner()
        _ = transport.start(try request(server), receiver: owner)
        owner.send("go")
        let record = try await owner.until { !$0.ends.isEmpty }
        #expect(record.ends[0].error?.code == .connectionLost && !record.hasInputEnded)
    }

    /// Input that arrived before a write failed is not lost.
    @Test func inputIsDeliveredAfterAFailedWrite() async throws {
        let (isClosed, closed) = AsyncStream<Void>.makeStream()
        let server = try RawServer { connection in
            _ = connection.readHead()
            connection.write(Self.head + "x")
            guard connection.readBody(1).count == 1 else { return }
            connection.write("rest")
            // Unread input makes the kernel reset the connection.
            connection.reset()
            closed.finish()
        }
        let owner = RecordingOwner()
        owner.demand.withLock { $0 = .pause }
        let transfer = transport.start(try request(server), receiver: owner)
        _ = try await owner.until { $0.input.count == 1 }
        owner.send(String(repeating: "y", count: 8 << 20))
        for await _ in isClosed {}
        // The loop has noticed the end when it has carried another request.
        let other = try RawServer { connection in
            _ = connection.readHead()
            connection.write("HTTP/1.1 204 No Content\r\n\r\n")
        }
        _ = try await transport.run(.get, other.url())
        owner.demand.withLock { $0 = .more }
        transfer.resumeReceiving()
        let record = try await owner.until { !$0.ends.isEmpty }
        #expect(record.input == Data("xrest".utf8))
        #expect(record.ends.count == 1 && record.ends[0].error?.code == .connectionLost)
    }

    /// A receiver that pauses slows the server down; output that the server does not read slows
    /// the source down.
    @Test func bothDirectionsHaveBackPressure() async throws {
        let bytes = 8 << 20
        let server = try RawServer { connection in
            _ = connection.readHead()
            connection.write(Self.head + "x")
            guard connection.readBody(1).count == 1 else { return }
            connection.write([UInt8](repeating: 7, count: bytes))
            connection.finishSending()
            #expect(connection.readBody(bytes).count == bytes)
        }
        let owner = RecordingOwner()
        owner.demand.withLock { $0 = .pause }
        let transfer = transport.start(try request(server), receiver: owner)
        _ = try await owner.until { $0.input.count == 1 }
        owner.send("g")
        for _ in 0..<128 { owner.sending.yield(Data(repeating: 8, count: bytes / 128)) }
        owner.sending.finish()
        // Other transfers proceed; the paused one receives nothing.
        let other = try RawServer { connection in
            while connection.readHead() != nil { connection.respond("other") }
        }
        let next = try await transport.run(.get, other.url())
        #expect(next.text == "other")
        #expect(try await owner.until { _ in true }.input.count == 1)
        owner.demand.withLock { $0 = .more }
        transfer.resumeReceiving()
        let record = try await owner.until { !$0.ends.isEmpty }
        #expect(record.input.count == bytes + 1 && record.ends[0].error == nil)
    }

    @Test func failedOutputFailsTheTransfer() async throws {
        let server = try RawServer { Self.echo($0) }
        let receiver = FailingOwner()
        _ = transport.start(try request(server), receiver: receiver)
        for await _ in receiver.ended.stream {}
        #expect(receiver.end.withLock { $0?.error?.code } == .bodyReadFailed)
    }

    private final class FailingOwner: ConnectionOwner {
        let ended = AsyncStream<Void>.makeStream()
        let end = Mutex<TransferEnd?>(nil)

        func didSwitchProtocols(_ head: ResponseHead) -> any BodySource {
            FailingSource(error: RequestError(.bodyReadFailed, stage: .transport, "test"))
        }
        func didReceiveEnd() {}
        func didReceive(head: ResponseHead) {}
        func didReceive(bytes: UnsafeRawBufferPointer) -> Demand { .more }
        func didEnd(_ end: TransferEnd) {
            self.end.withLock { $0 = end }
            ended.continuation.finish()
        }
    }

    /// A response is invalid if the request has offered nothing, or is not complete.
    @Test(arguments: [false, true])
    func unexpected101IsRefused(offersUpgrade: Bool) async throws {
        let server = try RawServer { connection in
            _ = connection.readHead()
            connection.write(Self.head)
            connection.waitForClose()
        }
        let (never, finish) = AsyncStream<Data>.makeStream()
        defer { finish.finish() }
        var request = try request(server, offersUpgrade: offersUpgrade)
        if offersUpgrade {
            request.method = .post
            request.body = .stream { never }
        }
        let owner = RecordingOwner()
        _ = transport.start(request, receiver: owner)
        let record = try await owner.until { !$0.ends.isEmpty }
        #expect(record.ends[0].error?.code == .badServerResponse && record.heads.isEmpty)
    }

    /// The response must name the protocol (RFC 9110 §15.2.2).
    @Test(arguments: ["", "Upgrade:\r\n"])
    func switchToAnUnnamedProtocolIsRefused(field: String) async throws {
        let server = try RawServer { connection in
            _ = connection.readHead()
            connection.write(
                "HTTP/1.1 101 Switching Protocols\r\n\(field)Connection: upgrade\r\n\r\n")
            connection.waitForClose()
        }
        let owner = RecordingOwner()
        _ = transport.start(try request(server), receiver: owner)
        let record = try await owner.until { !$0.ends.isEmpty }
        #expect(record.ends[0].error?.code == .badServerResponse && record.heads.isEmpty)
    }

    @Test func responseWithoutSwitchIsDelivered() async throws {
        let server = try RawServer { connection in
            while connection.readHead() != nil { connection.respond("no") }
        }
        let owner = RecordingOwner()
        _ = transport.start(try request(server), receiver: owner)
        let record = try await owner.until { !$0.ends.isEmpty }
        #expect(record.finalHeads == 1 && record.input == Data("no".utf8))
        #expect(record.ends[0].error == nil && record.heads.isEmpty)
    }
}
