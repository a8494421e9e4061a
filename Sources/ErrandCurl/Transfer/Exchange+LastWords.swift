#if os(Linux)
    import CLibcurl
    import ErrandCore

    // NB: a server that refuses an upload and closes at once resets the connection. Linux keeps what had come before that
    // for reading, but writing fails at once, and libcurl gives the connection up with the answer unread. Over TLS, where
    // a piece of a body goes out in several writes, that is what usually happens. So a write that fails while there is
    // something to read is reported as one that has to wait: libcurl reads first, and fails later if that was no answer.
    extension Exchange {
        /// The request's head goes out on a connection of its own.
        func listenForLastWords() {
            guard upload != nil, !speaksHTTP2, let handle, let connection = errand_get_tls(handle),
                let library = TLSLibrary.loaded, !library.postponesFailures(of: connection),
                let ends = ConnectionEnds(of: handle),
                let socket = loop.sockets.socket(between: ends)
            else { return }
            library.postponeFailures(of: connection, on: socket)
        }
    }

    /// A socket and how much it had to read when a write failed last, in the pointer that a callback is given.
    ///
    /// Connections outlive exchanges: there is nothing that has to be kept for them.
    private struct FailedWrite {
        private static let socketBits = 24
        let socket: Int32
        var unread: Int32 = 0

        init(on socket: Int32) { self.socket = socket }

        init(_ pointer: UnsafeMutableRawPointer?) {
            let bits = UInt(bitPattern: pointer)
            socket = Int32(truncatingIfNeeded: bits & (1 << Self.socketBits - 1))
            unread = Int32(truncatingIfNeeded: bits >> Self.socketBits)
        }

        var pointer: UnsafeMutableRawPointer? {
            let bits = UInt(clamping: unread) << Self.socketBits | UInt(clamping: socket)
            return UnsafeMutableRawPointer(bitPattern: bits)
        }
    }

    extension TLSLibrary {
        /// Whether a connection's failed writes wait already.
        fileprivate func postponesFailures(of connection: UnsafeMutableRawPointer) -> Bool {
            writer(connection).map { writeArgument($0) != nil } ?? true
        }

        /// Lets failed writes of a connection wait for what is there to be read.
        fileprivate func postponeFailures(of connection: UnsafeMutableRawPointer, on socket: Int32)
        {
            guard let writer = writer(connection) else { return }
            setWriteArgument(writer, FailedWrite(on: socket).pointer)
            setWriteCallback(writer, onWrite)
        }

        /// A write has failed; whether libcurl is to read before that counts.
        fileprivate func postpones(_ writer: UnsafeMutableRawPointer) -> Bool {
            // `BIO_FLAGS_SHOULD_RETRY`: the socket only has no room.
            guard testWriteFlags(writer, 0x08) == 0 else { return false }
            var failed = FailedWrite(writeArgument(writer))
            let unread = errand_unread(failed.socket)
            // What is as much as at the last failure is not being read: the receiver pauses.
            guard unread > 0, unread != failed.unread else { return false }
            failed.unread = unread
            setWriteArgument(writer, failed.pointer)
            // `BIO_FLAGS_WRITE | BIO_FLAGS_SHOULD_RETRY`.
            setWriteFlags(writer, 0x0A)
            return true
        }
    }

    private let onWrite: errand_tls_write_callback = { writer, operation, _, _, _, _, result, _ in
        // `BIO_CB_WRITE | BIO_CB_RETURN`.
        guard operation == 0x83, result <= 0, let writer, let library = TLSLibrary.loaded,
            library.postpones(writer)
        else { return Int(result) }
        return -1
    }
#endif
