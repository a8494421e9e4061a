#if os(Linux)
    import CLibcurl
    import ErrandSystem

    /// Formats the peer of a connection as `IP:port` and caches the text for further requests to
    /// the same peer.
    struct PeerAddress {
        private var bytes: [CChar] = []
        private var port = 0
        private var text: String?

        init() {}

        /// The peer of a handle's connection; `nil` if it has none.
        mutating func text(of handle: UnsafeMutableRawPointer) -> String? {
            var address: UnsafeMutablePointer<CChar>?
            var port = 0
            errand_get_string(handle, CURLINFO_PRIMARY_IP, &address)
            errand_get_long(handle, CURLINFO_PRIMARY_PORT, &port)
            guard let address, address[0] != 0 else { return nil }
            if port == self.port, isSame(address) { return text }
            bytes = Array(UnsafeBufferPointer(start: address, count: strlen(address) + 1))
            self.port = port
            let host = String(cString: address)
            text = host.utf8.contains(0x3A) ? "[\(host)]:\(port)" : "\(host):\(port)"
            return text
        }

        private func isSame(_ address: UnsafePointer<CChar>) -> Bool {
            bytes.withUnsafeBufferPointer { known in
                guard let start = known.baseAddress else { return false }
                return strcmp(start, address) == 0
            }
        }
    }
#endif
