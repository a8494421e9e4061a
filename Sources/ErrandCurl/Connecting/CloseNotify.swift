#if os(Linux)
    import ErrandOpenSSL

    /// The end of a TLS connection's output, written outside of a call of libcurl.
    ///
    /// libcurl's BIO finds its transfer in the state of libcurl's current call. A function of OpenSSL
    /// that reads or writes through this BIO at any other time ends the process if the peer has reset
    /// the connection (libcurl 7.88 to 8.22). So this is the only use of such a function, and it
    /// writes to memory; `Scripts/check-boundaries` refuses every other one.
    struct CloseNotify: Sendable {
        /// `nil` if libcurl uses another TLS library or an older version.
        static let loaded = CloseNotify()

        /// `SSL_SENT_SHUTDOWN`: without it, `SSL_shutdown` only writes.
        private static let isSent: Int32 = 1
        /// A record with an alert has at most 5 + 256 bytes, unless the cipher adds padding.
        private static let maximumBytes = 1024

        private let connections: OpenSSL.Connections
        private let streams: OpenSSL.Streams
        private let transfers: OpenSSL.Transfers

        private init?() {
            guard let connections = LibcurlOpenSSL.connections,
                let streams = LibcurlOpenSSL.streams,
                let transfers = LibcurlOpenSSL.transfers
            else { return nil }
            self.connections = connections
            self.streams = streams
            self.transfers = transfers
        }

        /// Ends the output of a connection; returns the record with close_notify (RFC 8446 §6.1),
        /// which the caller sends.
        ///
        /// From now on OpenSSL writes to memory, so libcurl sends nothing on this connection. It reads
        /// through its own BIO as before. The result is empty if OpenSSL cannot write the alert now.
        func record(of connection: UnsafeMutableRawPointer) -> [UInt8] {
            guard connections.SSL_get_shutdown(connection) & Self.isSent == 0,
                let method = streams.BIO_s_mem(), let writer = streams.BIO_new(method)
            else { return [] }
            // The connection owns the BIO, and releases libcurl's, which it keeps for reading.
            connections.SSL_set0_wbio(connection, writer)
            _ = transfers.SSL_shutdown(connection)
            return [UInt8](unsafeUninitializedCapacity: Self.maximumBytes) { bytes, count in
                count = max(
                    0, Int(transfers.BIO_read(writer, bytes.baseAddress, Int32(bytes.count))))
            }
        }
    }
#endif
