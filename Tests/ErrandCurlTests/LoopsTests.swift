import ErrandCore
import ErrandCurl
import Foundation
import Glibc
import HTTPTypes
import Synchronization
import Testing

/// Several loops: who goes where, and that nothing gets lost between them.
@Suite(.timeLimit(.minutes(5)))
struct LoopsTests {
    private static func transport(_ loops: Int, name: String = "loops") -> CurlTransport {
        var configuration = CurlConfiguration()
        configuration.loops = loops
        configuration.name = name
        return CurlTransport(configuration: configuration)
    }

    private static func answering() throws -> RawServer {
        try RawServer { connection in
            while connection.readHead() != nil {
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
            }
        }
    }

    /// Notes the thread that it is called on, but for the end, which other threads may tell.
    private final class Witness: TransferReceiver {
        let threads = Mutex<Set<UInt>>([])
        let inner = Recorder()

        private func note() { _ = threads.withLock { $0.insert(UInt(pthread_self())) } }
        func didReceive(informational head: ResponseHead) { note() }
        func didReceive(head: ResponseHead) {
            note()
            inner.didReceive(head: head)
        }
        func didReceive(bytes: UnsafeRawBufferPointer) -> Demand {
            note()
            return inner.didReceive(bytes: bytes)
        }
        func didSend(bodyBytes: Int64) { note() }
        func didEnd(_ end: TransferEnd) { inner.didEnd(end) }
    }

    @Test func oneAfterTheOtherKeepsToOneConnection() async throws {
        let server = try Self.answering()
        let transport = Self.transport(4)
        for _ in 0..<20 {
            let record = try await transport.run(.get, server.url())
            #expect(record.error == nil)
        }
        #expect(server.connections == 1)
    }

    @Test func manyAtOnceAreShared() async throws {
        // A head, and a body that never comes whole.
        let server = try RawServer { connection in
            while connection.readHead() != nil {
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nhi")
            }
        }
        let transport = Self.transport(3)
        let started = try (0..<30).map { _ in
            let witness = Witness()
            let request = TransportRequest(url: try .test(server.url()))
            return (transport.start(request, receiver: witness), witness)
        }
        for (_, witness) in started { _ = await witness.inner.wait { $0.head != nil } }
        for (transfer, _) in started { transfer.cancel() }
        var threads: Set<UInt> = []
        for (_, witness) in started {
            #expect(await witness.inner.end().error?.code == .cancelled)
            let own = witness.threads.withLock { $0 }
            #expect(own.count == 1)
            threads.formUnion(own)
        }
        #expect(threads.count == 3)
    }

    @Test func shutDownReachesAll() async throws {
        let server = try CancelTests.silent()
        let transport = Self.transport(3)
        let started = try (0..<12).map { _ in
            let recorder = Recorder()
            let request = TransportRequest(url: try .test(server.url()))
            return (transport.start(request, receiver: recorder), recorder)
        }
        transport.shutDown()
        for (_, recorder) in started {
            let record = await recorder.end()
            #expect(record.error?.code == .agentShutDown)
            #expect(record.violations.isEmpty)
        }
        let late = try await transport.run(.get, server.url())
        #expect(late.error?.code == .agentShutDown)
    }

    @Test func limitsAreDivided() {
        var configuration = CurlConfiguration()
        configuration.loops = 4
        #expect(configuration.effectiveLoops == 4)
        configuration.maximumConnections = 10
        configuration.connectionsPerHost = 6
        let parts = (0..<4).map { configuration.part($0, of: 4) }
        #expect(parts.map(\.maximumConnections) == [3, 3, 2, 2])
        // A host's connections are all one loop's.
        #expect(parts.map(\.connectionsPerHost) == [6, 6, 6, 6])
        #expect(parts.map(\.idleConnections) == [32, 32, 32, 32])
        configuration.connectionsPerHost = 2
        #expect(configuration.effectiveLoops == 4)
        configuration.idleConnections = 2
        #expect(configuration.effectiveLoops == 2)
        configuration.maximumConnections = 1
        #expect(configuration.effectiveLoops == 1)
        #expect(configuration.part(0, of: 1) == configuration)
        configuration = CurlConfiguration()
        configuration.loops = 1000
        #expect(configuration.effectiveLoops == 64)
        configuration.loops = -1
        #expect(configuration.effectiveLoops == 1)
    }

    @Test func limitOfConnectionsHoldsOverall() async throws {
        let server = try Self.answering()
        var configuration = CurlConfiguration()
        configuration.loops = 2
        configuration.connectionsPerHost = 2
        let transport = CurlTransport(configuration: configuration)
        let recorders = try (0..<40).map { _ in
            let recorder = Recorder()
            _ = transport.start(
                TransportRequest(url: try .test(server.url())), receiver: recorder)
            return recorder
        }
        for recorder in recorders { #expect(await recorder.end().error == nil) }
        #expect(server.connections <= 2)
    }

    @Test func choice() {
        #expect(LoopChoice.leastBusy(of: 3) { [2, 1, 1][$0] } == 1)
        #expect(LoopChoice.leastBusy(of: 3) { _ in 0 } == 0)
        #expect(LoopChoice.leastBusy(of: 1) { _ in 7 } == 0)
        let hosts = (0..<100).map { "host-\($0).example.com" }
        let ways = hosts.map { LoopChoice.index(forHost: $0, of: 4) }
        #expect(Set(ways) == [0, 1, 2, 3])
        #expect(ways == hosts.map { LoopChoice.index(forHost: $0, of: 4) })
        #expect(LoopChoice.index(forHost: nil, of: 1) == 0)
    }
}
