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
        mutating func text(of handle: UnsafeMutableRawPointer, _ curl: Curl) -> String? {
            let port = curl.number(handle, CURLINFO_PRIMARY_PORT)
            guard let address = curl.text(handle, CURLINFO_PRIMARY_IP), address[0] != 0 else {
                return nil
            }
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
