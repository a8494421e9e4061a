#if os(Linux)
    import CLibcurl
    import Glibc

    /// The local and peer address of a connection.
    ///
    /// libcurl does not report which socket a transfer uses, so the socket is found by these
    /// addresses.
    struct ConnectionEndpoints: Hashable {
        private let local: String
        private let peer: String

        /// The endpoints of a handle's connection; `nil` if it has none or does not use IP.
        init?(of handle: UnsafeMutableRawPointer) {
            guard let local = Self.text(handle, CURLINFO_LOCAL_IP, CURLINFO_LOCAL_PORT),
                let peer = Self.text(handle, CURLINFO_PRIMARY_IP, CURLINFO_PRIMARY_PORT)
            else { return nil }
            self.local = local
            self.peer = peer
        }

        /// The endpoints of a socket; `nil` if it is not connected.
        init?(of socket: Int32) {
            guard let local = Self.text({ getsockname(socket, $0, $1) }),
                let peer = Self.text({ getpeername(socket, $0, $1) })
            else { return nil }
            self.local = local
            self.peer = peer
        }

        private static func text(
            _ handle: UnsafeMutableRawPointer, _ address: CURLINFO, _ port: CURLINFO
        ) -> String? {
            var text: UnsafeMutablePointer<CChar>?
            var number = 0
            errand_get_string(handle, address, &text)
            errand_get_long(handle, port, &number)
            guard let text, text[0] != 0, number > 0 else { return nil }
            return "\(String(cString: text)) \(number)"
        }

        private static func text(
            _ ask: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
        ) -> String? {
            var storage = sockaddr_storage()
            var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
            return withUnsafeMutablePointer(to: &storage) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    guard ask(address, &length) == 0 else { return nil }
                    return name(of: address, length)
                }
            }
        }

        private static func name(
            of address: UnsafePointer<sockaddr>, _ length: socklen_t
        ) -> String? {
            var host = [CChar](repeating: 0, count: 64)
            var port = [CChar](repeating: 0, count: 16)
            let result = getnameinfo(
                address, length, &host, socklen_t(host.count), &port, socklen_t(port.count),
                NI_NUMERICHOST | NI_NUMERICSERV)
            guard result == 0 else { return nil }
            return host.withUnsafeBufferPointer { host in
                port.withUnsafeBufferPointer { port in
                    guard let host = host.baseAddress, let port = port.baseAddress else {
                        return nil
                    }
                    return "\(String(cString: host)) \(String(cString: port))"
                }
            }
        }
    }
#endif
