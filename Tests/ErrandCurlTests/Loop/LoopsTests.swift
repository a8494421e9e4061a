import ErrandCore
import ErrandCurl
import ErrandTesting
import ErrandTransport
import Foundation
import Glibc
import HTTPTypes
import Synchronization
import TestSupport
import Testing

/// Several loops: selection of a loop, shared limits and shutdown.
@Suite(.limited)
struct LoopsTests {
    private static func transport(_ loops: Int, name: String = "loops") -> CurlTransport {
        return CurlTransport {
            $0.loops = loops
            $0.name = name
        }
    }

    private static func responding() throws -> RawServer {
        try RawServer { connection in
            while connection.readHead() != nil {
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
            }
        }
    }

    /// Records the threads of all calls except the end, which other threads may report.
    private final class ThreadRecorder: TransferReceiver {
        let threads = Mutex<Set<UInt>>([])
        let inner = RecordingReceiver()

        private func recordThread() { _ = threads.withLock { $0.insert(UInt(pthread_self())) } }
        func didReceive(informational head: ResponseHead) { recordThread() }
        func didReceive(head: ResponseHead) {
            recordThread()
            inner.didReceive(head: head)
        }
        func didReceive(bytes: UnsafeRawBufferPointer) -> Demand {
            recordThread()
            return inner.didReceive(bytes: bytes)
        }
        func didSend(bodyBytes: Int64) { recordThread() }
        func didEnd(_ end: TransferEnd) { inner.didEnd(end) }
    }

    @Test func sequentialRequestsReuseOneConnection() async throws {
        let server = try Self.responding()
        let transport = Self.transport(4)
        for _ in 0..<20 {
            let record = try await transport.run(.get, server.url())
            #expect(record.error == nil)
        }
        #expect(server.connections == 1)
    }

    @Test func concurrentRequestsUseAllLoops() async throws {
        // Sends a head and an incomplete body.
        let server = try RawServer { connection in
            while connection.readHead() != nil {
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nhi")
            }
        }
        let transport = Self.transport(3)
        let started = try (0..<30).map { _ in
            let threadRecorder = ThreadRecorder()
            let request = TransportRequest(url: try .test(server.url()))
            return (transport.start(request, receiver: threadRecorder), threadRecorder)
        }
        for (_, threadRecorder) in started {
            _ = try await threadRecorder.inner.until { $0.head != nil }
        }
        for (transfer, _) in started { transfer.cancel() }
        var threads: Set<UInt> = []
        for (_, threadRecorder) in started {
            #expect(try await threadRecorder.inner.ended().error?.code == .cancelled)
            let own = threadRecorder.threads.withLock { $0 }
            #expect(own.count == 1)
            threads.formUnion(own)
        }
        #expect(threads.count == 3)
    }

    @Test func shutDownReachesAllLoops() async throws {
        let server = try CancelTests.silent()
        let transport = Self.transport(3)
        let started = try (0..<12).map { _ in
            let recorder = RecordingReceiver()
            let request = TransportRequest(url: try .test(server.url()))
            return (transport.start(request, receiver: recorder), recorder)
        }
        transport.shutDown()
        for (_, recorder) in started {
            let record = try await recorder.ended()
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
        // All connections of a host belong to one loop.
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

    @Test func connectionsPerHostAppliesAcrossLoops() async throws {
        let server = try Self.responding()
        let transport = CurlTransport {
            $0.loops = 2
            $0.connectionsPerHost = 2
        }
        let recorders = try (0..<40).map { _ in
            let recorder = RecordingReceiver()
            _ = transport.start(
                TransportRequest(url: try .test(server.url())), receiver: recorder)
            return recorder
        }
        for recorder in recorders { #expect(try await recorder.ended().error == nil) }
        #expect(server.connections <= 2)
    }

    /// Lets the first requests wait for each other, so that they run at the same time.
    private final class Meeting: Sendable {
        private let missing: Mutex<Int>
        private let isComplete = DispatchSemaphore(value: 0)

        init(of count: Int) { missing = Mutex(count) }

        func arrive() {
            let left = missing.withLock { missing in
                missing -= 1
                return missing
            }
            if left < 0 { return }
            if left == 0 { isComplete.signal() }
            isComplete.wait()
            isComplete.signal()
        }
    }

    /// A proxy gets the absolute form and its own credentials, whichever loop carries the request.
    @Test func proxiedRequestsOfSeveralLoopsKeepTheirResponsesAndCredentials() async throws {
        let count = 60
        let meeting = Meeting(of: count)
        let servers = try (0..<3).map { index in
            try RawServer { connection in
                while let head = connection.readHead() {
                    meeting.arrive()
                    // The lengths differ, so that parts of another response would be noticed.
                    let padding = String(repeating: ".", count: head.count % 7 * 997)
                    connection.respond("\(index)\(padding)\r\n\(head)")
                }
            }
        }
        // The first proxy has two users; the last server is contacted directly.
        let routes: [(server: Int, user: String?)] = [
            (0, "one:a"), (0, "two:b"), (1, nil), (2, nil),
        ]
        let transport = Self.transport(3)
        for wave in 0..<2 {
            let started = try (0..<count).map { number in
                let (index, user) = routes[number % routes.count]
                let server = servers[index]
                let path = "/\(wave)/\(number)"
                let url = index == 2 ? server.url(path) : "http://host\(number).test\(path)"
                var request = TransportRequest(url: try .test(url))
                if index < 2 {
                    let user = user.map { $0 + "@" } ?? ""
                    request.options.proxy = .url("http://\(user)127.0.0.1:\(server.port)")
                }
                let recorder = ThreadRecorder()
                _ = transport.start(request, receiver: recorder)
                return (target: index == 2 ? path : url, recorder)
            }
            var threads: Set<UInt> = []
            for (number, (target, recorder)) in started.enumerated() {
                let (index, user) = routes[number % routes.count]
                let record = try await recorder.inner.ended()
                threads.formUnion(recorder.threads.withLock { $0 })
                #expect(record.error == nil, "\(record.errorText)")
                let lines = record.text.components(separatedBy: "\r\n")
                #expect(lines[0].hasPrefix("\(index)"))
                #expect(lines.dropFirst().first == "GET \(target) HTTP/1.1")
                let expected = user.map { "Basic " + Data($0.utf8).base64EncodedString() }
                #expect(
                    lines.filter { $0.lowercased().contains("authorization") }
                        == (expected.map { ["Proxy-Authorization: \($0)"] } ?? []))
            }
            if wave == 0 { #expect(threads.count == 3) }
        }
    }

    @Test func loopSelection() {
        #expect(LoopChoice.leastBusy(of: 3) { [2, 1, 1][$0] } == 1)
        #expect(LoopChoice.leastBusy(of: 3) { _ in 0 } == 0)
        #expect(LoopChoice.leastBusy(of: 1) { _ in 7 } == 0)
        let hosts = (0..<100).map { "host-\($0).example.com" }
        let loops = hosts.map { LoopChoice.index(forHost: $0, of: 4) }
        #expect(Set(loops) == [0, 1, 2, 3])
        #expect(loops == hosts.map { LoopChoice.index(forHost: $0, of: 4) })
        #expect(LoopChoice.index(forHost: nil, of: 1) == 0)
    }
}
