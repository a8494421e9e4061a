#if os(Linux)
    import ErrandOpenSSL

    /// Observes how one TLS connection ends.
    ///
    /// OpenSSL has one callback, with one argument, in the BIO object of a connection. The hook is
    /// this argument; the BIO object owns it. An attacker on the path can close a TCP connection, but only
    /// the server can end TLS with close_notify (RFC 9112 §9.8). libcurl does not distinguish them.
    final class ConnectionHook {
        /// Whether the TCP connection ended without a close_notify of the peer.
        ///
        /// After a close_notify, OpenSSL does not read again and does not find the end.
        private(set) var hasEnded = false

        /// The hook of a connection, created on first use.
        static func of(_ connection: UnsafeMutableRawPointer) -> ConnectionHook? {
            guard let library = TLSLibrary.loaded, let object = library.stream(of: connection)
            else { return nil }
            if let argument = library.streams.BIO_get_callback_arg(object) {
                return Unmanaged<ConnectionHook>.fromOpaque(argument).takeUnretainedValue()
            }
            let hook = ConnectionHook()
            library.streams.BIO_set_callback_arg(object, Unmanaged.passRetained(hook).toOpaque())
            library.streams.BIO_set_callback_ex(object, onOperation)
            return hook
        }

        fileprivate func readFailed() { hasEnded = true }
    }

    /// `BIO_CB_FREE`, and `BIO_CB_READ` with `BIO_CB_RETURN`.
    private enum Operation {
        static let free: Int32 = 0x01
        static let hasRead: Int32 = 0x82
    }

    private let onOperation: OpenSSL.Streams.Callback = {
        object, operation, _, _, _, _, result, _ in
        guard operation == Operation.free || operation == Operation.hasRead && result <= 0,
            let object, let streams = LibcurlOpenSSL.streams,
            let argument = streams.BIO_get_callback_arg(object)
        else { return Int(result) }
        let hook = Unmanaged<ConnectionHook>.fromOpaque(argument)
        if operation == Operation.free {
            streams.BIO_set_callback_arg(object, nil)
            hook.release()
        } else if streams.BIO_test_flags(object, 0x08) == 0 {
            // Not `BIO_FLAGS_SHOULD_RETRY`.
            hook._withUnsafeGuaranteedRef { $0.readFailed() }
        }
        return Int(result)
    }
#endif
