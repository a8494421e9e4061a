#if Redis && os(Linux)
    import Foundation

    /// A listener that sends the same bytes to each connection, or nothing.
    final class SilentListener: Sendable {
        let port: Int
        private let descriptor: Int32

        /// - Parameters:
        ///   - greeting: The bytes; `nil` does not even accept connections.
        ///   - closes: Whether each connection is closed after them.
        init(greeting: String?, closes: Bool = false) throws {
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            self.descriptor = descriptor
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            let bound = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, size) == 0 && listen(descriptor, 16) == 0
                        && getsockname(descriptor, $0, &size) == 0
                }
            }
            guard bound else { throw POSIXError(.EADDRINUSE) }
            port = Int(UInt16(bigEndian: address.sin_port))
            guard let greeting else { return }
            Thread.detachNewThread {
                while true {
                    let connection = accept(descriptor, nil, nil)
                    guard connection >= 0 else { return }
                    let bytes = Array(greeting.utf8)
                    _ = send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
                    if closes { close(connection) }
                }
            }
        }

        deinit {
            shutdown(descriptor, Int32(SHUT_RDWR))
            close(descriptor)
        }
    }
#endif
