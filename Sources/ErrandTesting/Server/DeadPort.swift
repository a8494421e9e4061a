import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Ports where no connection comes about.
public enum DeadPort {
    /// A port on which nobody listens: connecting to it on 127.0.0.1 is refused.
    ///
    /// Somebody else may get the port later; ``Refusing`` keeps it.
    ///
    /// - Throws: `POSIXError` when there is no socket to be had.
    public static func refusing() throws -> Int {
        let (socket, port) = try LoopbackSocket.listening(ipv6: false)
        socket.close()
        return port
    }

    /// A port on which connecting is refused, while the returned object lives.
    public final class Refusing: Sendable {
        /// The port on 127.0.0.1.
        public let port: Int
        private let holder: LoopbackSocket

        /// Takes a free port without listening on it.
        ///
        /// - Throws: `POSIXError` when there is no socket to be had.
        public init() throws { (holder, port) = try LoopbackSocket.bound() }

        deinit { holder.close() }
    }

    /// A port on which connecting takes for ever, while the returned object lives.
    public final class Silent: Sendable {
        /// The port on 127.0.0.1.
        public let port: Int
        private let listener: LoopbackSocket
        private let fillers: [LoopbackSocket]

        /// Listens without accepting, with the queue of waiting connections filled up.
        ///
        /// - Throws: `POSIXError` when there is no socket to be had.
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
