import ErrandCore
import ErrandCurl
import Foundation
import Synchronization
import Testing

/// A transfer can be given up at any moment and ends exactly once.
@Suite(.timeLimit(.minutes(5)))
struct CancelTests {
    /// A body without an end.
    static func endless() throws -> RawServer {
        try RawServer { connection in
            while connection.readHead() != nil {
                connection.write("HTTP/1.1 200 OK\r\n\r\n")
                let chunk = [UInt8](repeating: 7, count: 32 << 10)
                while connection.write(chunk) {}
            }
        }
    }

    /// Accepts and says nothing.
    static func silent() throws -> RawServer { try RawServer { $0.waitForClose() } }

    @Test func beforeTheAnswer() async throws {
        let server = try Self.silent()
        let transport = CurlTransport()
        let recorder = Recorder()
        let transfer = transport.start(
            TransportRequest(url: try .test(server.url())), receiver: recorder)
        transfer.cancel()
        let record = await recorder.end()
        #expect(record.error?.code == .cancelled)
        #expect(record.error?.stage == .cancel)
        transfer.cancel()
        transfer.resumeReceiving()
        #expect(recorder.record.ends.count == 1)
    }

    @Test func whileTheBodyComes() async throws {
        let server = try Self.endless()
        let transport = CurlTransport()
        let recorder = Recorder(keepsBody: false)
        let transfer = transport.start(
            TransportRequest(url: try .test(server.url())), receiver: recorder)
        await recorder.wait { $0.chunks > 3 }
        transfer.cancel()
        let record = await recorder.end()
        #expect(record.error?.code == .cancelled)
        #expect(record.violations.isEmpty)
    }

    @Test func fromInsideACallback() async throws {
        let server = try Self.endless()
        let transport = CurlTransport()
        let holder = Mutex<(any Transfer)?>(nil)
        let recorder = Recorder(keepsBody: false) { chunk in
            if chunk == 2 { holder.withLock { $0 }?.cancel() }
            return .more
        }
        // The lock keeps the callback waiting until the transfer is known.
        let request = TransportRequest(url: try .test(server.url()))
        holder.withLock { $0 = transport.start(request, receiver: recorder) }
        let record = await recorder.end()
        #expect(record.error?.code == .cancelled)
        #expect(record.violations.isEmpty)
        #expect(record.chunks == 2)
    }

    @Test func byTheReceiversDemand() async throws {
        let server = try Self.endless()
        let recorder = Recorder(keepsBody: false) { $0 == 3 ? .stop : .more }
        _ = CurlTransport().start(
            TransportRequest(url: try .test(server.url())), receiver: recorder)
        let record = await recorder.end()
        #expect(record.error?.code == .cancelled)
        #expect(record.chunks == 3)
    }

    @Test func whilePaused() async throws {
        let server = try Self.endless()
        let recorder = Recorder(keepsBody: false) { _ in .pause }
        let transfer = CurlTransport().start(
            TransportRequest(url: try .test(server.url())), receiver: recorder)
        await recorder.wait { $0.chunks == 1 }
        transfer.cancel()
        let record = await recorder.end()
        #expect(record.error?.code == .cancelled)
        #expect(record.chunks == 1)
    }

    @Test func aThousandAtOnceAndThenOneThatWorks() async throws {
        let silent = try Self.silent()
        let server = try ExchangeTests.echo()
        let transport = CurlTransport()
        let recorders = (0..<1000).map { _ in Recorder() }
        let request = TransportRequest(url: try .test(silent.url()))
        let transfers = recorders.map { transport.start(request, receiver: $0) }
        await withTaskGroup(of: Void.self) { group in
            for transfer in transfers { group.addTask { transfer.cancel() } }
        }
        for recorder in recorders {
            let record = await recorder.end()
            #expect(record.error?.code == .cancelled)
            #expect(record.ends.count == 1)
        }
        let record = try await transport.run(.get, server.url())
        #expect(record.error == nil)
    }

    @Test func shutDownEndsAllAndRefusesLaterOnes() async throws {
        let server = try Self.silent()
        let transport = CurlTransport()
        let recorders = (0..<5).map { _ in Recorder() }
        let request = TransportRequest(url: try .test(server.url()))
        for recorder in recorders { _ = transport.start(request, receiver: recorder) }
        transport.shutDown()
        for recorder in recorders {
            #expect(await recorder.end().error?.code == .agentShutDown)
        }
        let late = try await transport.run(.get, server.url())
        #expect(late.error?.code == .agentShutDown)
        transport.shutDown()
    }

    @Test func aTransportThatIsLetGoFinishesItsTransfers() async throws {
        let server = try ExchangeTests.echo()
        let recorder = Recorder()
        var transport: CurlTransport? = CurlTransport()
        _ = transport?.start(TransportRequest(url: try .test(server.url())), receiver: recorder)
        transport = nil
        #expect(await recorder.end().error == nil)
    }
}
