import ErrandCore
import ErrandCurl
import ErrandTesting
import ErrandTransport
import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

/// Timings of a burst over TLS, whose requests wait for the connection of the first one.
@Suite("Real peers: timings of a burst", .limited)
struct QueueTimingTests {
    @Test func waitingForAConnectionCountsAsQueued() async throws {
        let peers = try Peers.get()
        let relay = try HeldRelay(to: peers.port(.nginxTLS))
        var request = peers.request(.nginxTLS)
        request.url.port = relay.port
        request.options.addressOverrides = ["good.errand.test:\(relay.port)": ["127.0.0.1"]]
        let transport = CurlTransport()
        let receivers = (0..<5).map { _ in RecordingReceiver() }
        for receiver in receivers { _ = transport.start(request, receiver: receiver) }
        let started = ContinuousClock.now
        await relay.untilConnected()
        // The server delays the handshake until at least this long after the requests were started.
        try await Task.sleep(for: .milliseconds(200))
        let delay = started.duration(to: .now)
        relay.open()
        var waited = 0
        for receiver in receivers {
            let record = try await receiver.ended()
            let timings = try #require(record.end?.timings)
            #expect(record.error == nil, "\(record.errorText)")
            let (queued, finished) = (try #require(timings.queued), try #require(timings.finished))
            if let first = timings.firstByte { #expect(first >= queued && first <= finished) }
            guard timings.reusedConnection == true else { continue }
            waited += 1
            #expect(queued >= delay)
        }
        #expect(waited == 4)
    }
}

/// A TCP relay to another port that forwards nothing until it is opened.
private final class HeldRelay: Sendable {
    let port: Int
    private let gate = DispatchSemaphore(value: 0)
    private let connected = AsyncStream.makeStream(of: Void.self)

    init(to target: Int) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = Self.address(0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 16) == 0
                    && getsockname(listener, $0, &length) == 0
            }
        }
        guard isBound else { throw POSIXError(.EADDRNOTAVAIL) }
        port = Int(UInt16(bigEndian: address.sin_port))
        Thread.detachNewThread { [gate, connected] in
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0 else { return }
                connected.continuation.yield()
                gate.wait()
                gate.signal()
                let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
                var address = Self.address(target)
                _ = withUnsafeMutablePointer(to: &address) { pointer in
                    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                        connect(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                    }
                }
                Thread.detachNewThread { Self.copy(client, server) }
                Thread.detachNewThread { Self.copy(server, client) }
            }
        }
    }

    /// Waits until a client has connected.
    func untilConnected() async { for await _ in connected.stream { return } }

    func open() { gate.signal() }

    private static func address(_ port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        address.sin_port = UInt16(truncatingIfNeeded: port).bigEndian
        return address
    }

    private static func copy(_ from: Int32, _ to: Int32) {
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            let count = recv(from, &buffer, buffer.count, 0)
            guard count > 0, send(to, buffer, count, Int32(MSG_NOSIGNAL)) == count else { break }
        }
        shutdown(to, Int32(SHUT_WR))
    }
}
