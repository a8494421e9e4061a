#if os(Linux)
    import CLibcurl
    import ErrandHTTP

    /// The end of a TLS connection's output, written outside of a call of libcurl.
    ///
    /// libcurl's BIO finds its transfer in the state of libcurl's current call. A function of OpenSSL
    /// that reads or writes through this BIO at any other time ends the process if the peer has reset
    /// the connection (libcurl 7.88 to 8.22). So this is the only use of such a function, and it
    /// writes to memory; `Scripts/check-boundaries` refuses every other one.
    struct CloseNotify: Sendable {
        /// `nil` if libcurl uses another TLS library or an older version.
        static let loaded = TLSLibrary.file.flatMap { CloseNotify($0) }

        /// `SSL_SENT_SHUTDOWN`: without it, `SSL_shutdown` only writes.
        private static let isSent: Int32 = 1
        /// A record with an alert has at most 5 + 256 bytes, unless the cipher adds padding.
        private static let maximumBytes = 1024

        private let ends: errand_tls_count
        private let end: errand_tls_count
        private let memoryMethod: errand_tls_make
        private let create: errand_tls_get
        private let setWriter: errand_tls_set_pointer
        private let read: errand_tls_read_memory

        private init?(_ library: SharedLibrary) {
            guard let ends: errand_tls_count = library.function("SSL_get_shutdown"),
                let end: errand_tls_count = library.function("SSL_shutdown"),
                let memoryMethod: errand_tls_make = library.function("BIO_s_mem"),
                let create: errand_tls_get = library.function("BIO_new"),
                let setWriter: errand_tls_set_pointer = library.function("SSL_set0_wbio"),
                let read: errand_tls_read_memory = library.function("BIO_read")
            else { return nil }
            self.ends = ends
            self.end = end
            self.memoryMethod = memoryMethod
            self.create = create
            self.setWriter = setWriter
            self.read = read
        }

        /// Ends the output of a connection; returns the record with close_notify (RFC 8446 §6.1),
        /// which the caller sends.
        ///
        /// From now on OpenSSL writes to memory, so libcurl sends nothing on this connection. It reads
        /// through its own BIO as before. The result is empty if OpenSSL cannot write the alert now.
        func record(of connection: UnsafeMutableRawPointer) -> [UInt8] {
            guard ends(connection) & Self.isSent == 0, let method = memoryMethod(),
                let writer = create(method)
            else { return [] }
            // The connection owns the BIO, and releases libcurl's, which it keeps for reading.
            setWriter(connection, writer)
            _ = end(connection)
            return [UInt8](unsafeUninitializedCapacity: Self.maximumBytes) { bytes, count in
                count = max(0, Int(read(writer, bytes.baseAddress, Int32(bytes.count))))
            }
        }
    }
#endif
