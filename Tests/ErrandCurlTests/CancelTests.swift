import ErrandCore
import ErrandCurl
import ErrandTesting
import ErrandTransport
import Foundation
import Synchronization
import TestSupport
import Testing

/// A transfer can be cancelled at any time and ends exactly once.
@Suite(.limited)
struct CancelTests {
    /// Sends a body without end.
    static func endless() throws -> RawServer {
        try RawServer { connection in
            while connection.readHead() != nil {
                connection.write("HTTP/1.1 200 OK\r\n\r\n")
                let chunk = [UInt8](repeating: 7, count: 32 << 10)
                while connection.write(chunk) {}
            }
        }
    }

    /// Accepts connections and sends nothing.
    static func silent() throws -> RawServer { try RawServer { $0.waitForClose() } }

    @Test func cancelBeforeResponse() async throws {
        let server = try Self.silent()
        let transport = CurlTransport()
        let recorder = RecordingReceiver()
        let transfer = transport.start(
            TransportRequest(url: try .test(server.url())), receiver: recorder)
        transfer.cancel()
        let record = try await recorder.ended()
        #expect(record.error?.code == .cancelled)
        #expect(record.error?.stage == .cancel)
        transfer.cancel()
        transfer.resumeReceiving()
        #expect(recorder.record.ends == 1)
    }

    @Test func cancelWhileReceivingBody() async throws {
        let server = try Self.endless()
        let transport = CurlTransport()
        let recorder = RecordingReceiver(keepsBody: false)
        let transfer = transport.start(
            TransportRequest(url: try .test(server.url())), receiver: recorder)
        try await recorder.until { $0.chunks > 3 }
        transfer.cancel()
        let record = try await recorder.ended()
        #expect(record.error?.code == .cancelled)
        #expect(record.violations.isEmpty)
    }

    @Test func cancelFromCallback() async throws {
        let server = try Self.endless()
        let transport = CurlTransport()
        let holder = Mutex<(any Transfer)?>(nil)
        let recorder = RecordingReceiver(keepsBody: false) { record in
            if record.chunks == 2 { holder.withLock { $0 }?.cancel() }
            return .more
        }
        // The lock blocks the callback until the transfer is stored.
        let request = TransportRequest(url: try .test(server.url()))
        holder.withLock { $0 = transport.start(request, receiver: recorder) }
        let record = try await recorder.ended()
        #expect(record.error?.code == .cancelled)
        #expect(record.violations.isEmpty)
        #expect(record.chunks == 2)
    }

    @Test func stopDemandCancels() async throws {
        let server = try Self.endless()
        let recorder = RecordingReceiver(keepsBody: false) { $0.chunks == 3 ? .stop : .more }
        _ = CurlTransport().start(
            TransportRequest(url: try .test(server.url())), receiver: recorder)
        let record = try await recorder.ended()
        #expect(record.error?.code == .cancelled)
        #expect(record.chunks == 3)
    }

    @Test func cancelWhilePaused() async throws {
        let server = try Self.endless()
        let recorder = RecordingReceiver(keepsBody: false) { _ in .pause }
        let transfer = CurlTransport().start(
            TransportRequest(url: try .test(server.url())), receiver: recorder)
        try await recorder.until { $0.chunks == 1 }
        transfer.cancel()
        let record = try await recorder.ended()
        #expect(record.error?.code == .cancelled)
        #expect(record.chunks == 1)
    }

    @Test func transportWorksAfterThousandCancellations() async throws {
        let silent = try Self.silent()
        let server = try PlainRequestTests.echo()
        let transport = CurlTransport()
        let recorders = (0..<1000).map { _ in RecordingReceiver() }
        let request = TransportRequest(url: try .test(silent.url()))
        let transfers = recorders.map { transport.start(request, receiver: $0) }
        await withTaskGroup(of: Void.self) { group in
            for transfer in transfers { group.addTask { transfer.cancel() } }
        }
        for recorder in recorders {
            let record = try await recorder.ended()
            #expect(record.error?.code == .cancelled)
            #expect(record.ends == 1)
        }
        let record = try await transport.run(.get, server.url())
        #expect(record.error == nil)
    }

    @Test func shutDownEndsActiveAndLaterTransfers() async throws {
        let server = try Self.silent()
        let transport = CurlTransport()
        let recorders = (0..<5).map { _ in RecordingReceiver() }
        let request = TransportRequest(url: try .test(server.url()))
        for recorder in recorders { _ = transport.start(request, receiver: recorder) }
        transport.shutDown()
        for recorder in recorders {
            #expect(try await recorder.ended().error?.code == .agentShutDown)
        }
        let late = try await transport.run(.get, server.url())
        #expect(late.error?.code == .agentShutDown)
        transport.shutDown()
    }

    @Test func releasedTransportFinishesTransfers() async throws {
        let server = try PlainRequestTests.echo()
        let recorder = RecordingReceiver()
        var transport: CurlTransport? = CurlTransport()
        _ = transport?.start(TransportRequest(url: try .test(server.url())), receiver: recorder)
        transport = nil
        #expect(try await recorder.ended().error == nil)
    }
}
