#if os(Linux)
    import CLibcurl
    import ErrandHTTP

    /// Creates BIOs through which TLS connections write to a ``SharedWrites``.
    struct TLSWriters: Sendable {
        /// `BIO_TYPE_SOURCE_SINK`.
        private static let sinkKind: Int32 = 0x0400
        /// `BIO_FLAGS_WRITE` and `BIO_FLAGS_SHOULD_RETRY`.
        static let retryFlags: Int32 = 0x0A

        // OpenSSL never changes a method after its creation.
        private nonisolated(unsafe) let method: UnsafeMutableRawPointer
        private let create: errand_tls_get
        private let setData: errand_tls_set_pointer
        private let setWriter: errand_tls_set_pointer
        let data: errand_tls_get
        let setFlags: errand_tls_set_int
        let clearFlags: errand_tls_set_int

        /// Finds the functions; `nil` if one is missing.
        init?(_ library: SharedLibrary) {
            guard let newKind: errand_tls_new_kind = library.function("BIO_get_new_index"),
                let makeMethod: errand_tls_make_method = library.function("BIO_meth_new"),
                let onWrite: errand_tls_set_on_write = library.function("BIO_meth_set_write"),
                let onControl: errand_tls_set_on_control = library.function("BIO_meth_set_ctrl"),
                let onFree: errand_tls_set_on_free = library.function("BIO_meth_set_destroy"),
                let create: errand_tls_get = library.function("BIO_new"),
                let data: errand_tls_get = library.function("BIO_get_data"),
                let setData: errand_tls_set_pointer = library.function("BIO_set_data"),
                let setFlags: errand_tls_set_int = library.function("BIO_set_flags"),
                let clearFlags: errand_tls_set_int = library.function("BIO_clear_flags"),
                let setWriter: errand_tls_set_pointer = library.function("SSL_set0_wbio")
            else { return nil }
            let kind = newKind()
            guard kind >= 0, let method = makeMethod(kind | Self.sinkKind, "collected writes"),
                onWrite(method, onWriterWrite) == 1, onControl(method, onWriterControl) == 1,
                onFree(method, onWriterFree) == 1
            else { return nil }
            self.method = method
            self.create = create
            self.data = data
            self.setData = setData
            self.setFlags = setFlags
            self.clearFlags = clearFlags
            self.setWriter = setWriter
        }

        /// Makes a connection write to this object, which it then owns; returns false on failure.
        func insert(_ writes: SharedWrites, in connection: UnsafeMutableRawPointer) -> Bool {
            guard let writer = writer(to: writes) else { return false }
            // Releases the former writer, which the connection still uses for reading.
            setWriter(connection, writer)
            return true
        }

        /// Creates a BIO that writes to this object and owns it; `nil` on failure.
        func writer(to writes: SharedWrites) -> UnsafeMutableRawPointer? {
            guard let writer = create(method) else { return nil }
            setData(writer, Unmanaged.passRetained(writes).toOpaque())
            return writer
        }
    }
#endif
