#if Inspector
    import Foundation

    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Darwin)
        import Darwin
    #endif

    /// A socket client that sends any bytes to a loopback port.
    ///
    /// Its calls block threads of their own, not one of the cooperative pool, which the server needs.
    final class PortClient: Sendable {
        private let descriptor: Int32
        private let queue = DispatchQueue(label: "port-client", attributes: .concurrent)

        init(port: UInt16) throws {
            #if canImport(Glibc)
                descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            #else
                descriptor = socket(AF_INET, SOCK_STREAM, 0)
            #endif
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr = in_addr(s_addr: UInt32(0x7F00_0001).bigEndian)
            let result = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            guard result == 0 else { throw POSIXError(.ECONNREFUSED) }
        }

        deinit { close(descriptor) }

        /// Sends text in pieces; false if the server has closed the connection.
        @discardableResult
        func send(_ text: String, piece: Int = .max) async -> Bool {
            await perform { [descriptor] in
                var rest = Array(text.utf8)[...]
                while !rest.isEmpty {
                    let count = rest.prefix(piece).withUnsafeBytes { bytes in
                        #if canImport(Glibc)
                            Glibc.send(
                                descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
                        #else
                            Darwin.send(descriptor, bytes.baseAddress, bytes.count, 0)
                        #endif
                    }
                    guard count > 0 else { return false }
                    rest = rest.dropFirst(count)
                }
                return true
            }
        }

        /// The text until the server closes the connection, or until it contains `end` this many times.
        func read(until end: String? = nil, times: Int = 1) async -> String {
            await perform { [descriptor] in
                var all: [UInt8] = []
                var buffer = [UInt8](repeating: 0, count: 64 << 10)
                while true {
                    let text = String(decoding: all, as: UTF8.self)
                    if let end, text.ranges(of: end).count >= times { return text }
                    let count = recv(descriptor, &buffer, buffer.count, 0)
                    guard count > 0 else { return text }
                    all += buffer[..<count]
                }
            }
        }

        private func perform<Value: Sendable>(
            _ work: @escaping @Sendable () -> Value
        ) async -> Value {
            await withCheckedContinuation { continuation in
                queue.async { continuation.resume(returning: work()) }
            }
        }
    }
#endif
