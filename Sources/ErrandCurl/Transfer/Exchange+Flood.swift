#if os(Linux)
    import CLibcurl
    import ErrandCore

    // NB: over HTTP/2 libcurl 7.88 reads on within one call until a frame has something for the transfer. A server that
    // sends frames without end that have nothing, such as empty DATA, would hold the loop, and with it every deadline.
    // So a connection's reads are counted within a call, and beyond some number the next one has to wait: libcurl
    // returns, and is called again at once, because the socket still has something.
    extension Exchange {
        /// The request's head goes out on a connection that may be shared.
        func limitReads() {
            guard speaksHTTP2, let handle, let connection = errand_get_tls(handle) else { return }
            // Connections are closed before the loop is gone.
            TLSLibrary.loaded?.limitReads(
                of: connection, for: Unmanaged.passUnretained(loop).toOpaque())
        }
    }

    extension EventLoop {
        /// Some hundred records: much more than libcurl reads at a time where it hands something over.
        private static var readsAtOnce: Int { 1000 }

        /// A connection wants to read; whether it may, within this call of libcurl.
        fileprivate func admitsRead() -> Bool {
            readsInCall += 1
            return readsInCall <= Self.readsAtOnce
        }
    }

    extension TLSLibrary {
        fileprivate func limitReads(
            of connection: UnsafeMutableRawPointer, for loop: UnsafeMutableRawPointer
        ) {
            // libcurl reads by the object that it writes by.
            guard let reader = writer(connection), writeArgument(reader) != loop else { return }
            setWriteArgument(reader, loop)
            setWriteCallback(reader, onRead)
        }
    }

    private let onRead: errand_tls_write_callback = { reader, operation, _, _, _, _, result, _ in
        // `BIO_CB_READ`, before anything is read.
        guard operation == 0x02, let reader, let library = TLSLibrary.loaded,
            let context = library.writeArgument(reader),
            !Unmanaged<EventLoop>.fromOpaque(context)._withUnsafeGuaranteedRef({ $0.admitsRead() })
        else { return Int(result) }
        // `BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY`.
        library.setWriteFlags(reader, 0x09)
        return -1
    }
#endif
