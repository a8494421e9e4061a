import ErrandSystem

/// Ports on 127.0.0.1 that accept no connections.
public enum DeadPort {
    /// Returns a free port; a connection to it is refused.
    ///
    /// Another process can take the port later; ``Refusing`` reserves it.
    ///
    /// - Throws: `POSIXError` if no socket can be created.
    public static func refusing() throws -> Int {
        let (socket, port) = try LoopbackSocket.listening(ipv6: false)
        socket.close()
        return port
    }

    /// A reserved port that refuses connections while the object exists.
    public final class Refusing: Sendable {
        /// The port on 127.0.0.1.
        public let port: Int
        private let holder: LoopbackSocket

        /// Binds a free port without listening on it.
        ///
        /// - Throws: `POSIXError` if no socket can be created.
        public init() throws { (holder, port) = try LoopbackSocket.bound() }

        deinit { holder.close() }
    }

    /// A port that never completes connections while the object exists.
    public final class Silent: Sendable {
        /// The port on 127.0.0.1.
        public let port: Int
        private let listener: LoopbackSocket
        private let fillers: [LoopbackSocket]

        /// Listens without accepting, and fills the queue of pending connections.
        ///
        /// - Throws: `POSIXError` if no socket can be created.
        public init() throws {
            (listener, port) = try LoopbackSocket.listening(ipv6: false, backlog: 0)
            var fillers: [LoopbackSocket] = []
            for _ in 0..<4 {
                guard let filler = try? LoopbackSocket.make(ipv6: false) else { continue }
                fillers.append(filler)
                filler.connectWithoutWaiting(port: port)
            }
            self.fillers = fillers
        }

        deinit {
            for filler in fillers { filler.close() }
            listener.close()
        }
    }
}

extension LoopbackSocket {
    fileprivate func connectWithoutWaiting(port: Int) {
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        var address = Self.ipv4Loopback(port: UInt16(clamping: port))
        _ = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
