#if os(Linux)
    import CLibcurl

    /// Observes and delays the reads and writes of one TLS connection.
    ///
    /// OpenSSL has one callback, with one argument, in the BIO object of a connection. The hook is
    /// this argument; the BIO object owns it.
    final class ConnectionHook {
        /// The effect on the operation.
        enum Effect {
            case proceed
            /// Report that nothing can be read now.
            case readLater
            /// Report that nothing can be written now.
            case writeLater
            /// Report that everything was written.
            case written
        }

        /// The read budget of a shared connection; see ``SharedReads``.
        var reads: SharedReads?
        /// The failed writes of an upload, and whether those of a new connection are ignored; see
        /// ``FailedWrites``.
        var writes: FailedWrites?
        /// Whether the writes of a shared connection are collected; see
        /// ``SharedWrites``.
        var collectsWrites = false
        var ignoresFailedWrites = false
        /// Whether the TCP connection ended without a close_notify of the peer.
        ///
        /// After a close_notify, OpenSSL does not read again and does not find the end.
        private(set) var hasEnded = false

        /// The hook of a connection, created on first use.
        static func of(_ connection: UnsafeMutableRawPointer) -> ConnectionHook? {
            guard let library = TLSLibrary.loaded, let object = library.writer(connection) else {
                return nil
            }
            if let argument = library.writeArgument(object) {
                return Unmanaged<ConnectionHook>.fromOpaque(argument).takeUnretainedValue()
            }
            let hook = ConnectionHook()
            library.setWriteArgument(object, Unmanaged.passRetained(hook).toOpaque())
            library.setWriteCallback(object, onOperation)
            return hook
        }

        /// Stops ignoring failed writes, and removes a hook without another purpose, because it
        /// costs time in each read and write.
        static func stopIgnoringFailedWrites(of connection: UnsafeMutableRawPointer) {
            guard let library = TLSLibrary.loaded, let object = library.writer(connection),
                let argument = library.writeArgument(object)
            else { return }
            let hook = Unmanaged<ConnectionHook>.fromOpaque(argument)
            let isNeeded = hook._withUnsafeGuaranteedRef { hook in
                hook.ignoresFailedWrites = false
                return hook.reads != nil || hook.writes != nil
            }
            guard !isNeeded else { return }
            library.setWriteCallback(object, nil)
            library.setWriteArgument(object, nil)
            hook.release()
        }

        /// Removes the effects of earlier requests on a connection, and the hook.
        static func remove(from connection: UnsafeMutableRawPointer) {
            guard let library = TLSLibrary.loaded, let object = library.writer(connection),
                let argument = library.writeArgument(object)
            else { return }
            library.setWriteCallback(object, nil)
            library.setWriteArgument(object, nil)
            Unmanaged<ConnectionHook>.fromOpaque(argument).release()
        }

        fileprivate func effect(
            _ operation: Int32, _ bytes: UnsafeRawBufferPointer, hasSucceeded: Bool,
            mayRetry: @autoclosure () -> Bool
        ) -> Effect {
            switch operation {
            case Operation.read: return reads?.mayRead() ?? true ? .proceed : .readLater
            case Operation.hasRead:
                if hasSucceeded {
                    reads?.hasRead(bytes)
                } else if !mayRetry() {
                    if reads?.postponesEnd() == true { return .readLater }
                    hasEnded = true
                }
                return .proceed
            case Operation.hasWritten:
                guard !hasSucceeded, !mayRetry() else { return .proceed }
                if writes?.postpone() == true { return .writeLater }
                return ignoresFailedWrites ? .written : .proceed
            default: return .proceed
            }
        }
    }

    /// `BIO_CB_FREE`, `BIO_CB_READ`, and the codes with `BIO_CB_RETURN`.
    private enum Operation {
        static let free: Int32 = 0x01
        static let read: Int32 = 0x02
        static let hasRead: Int32 = 0x82
        static let hasWritten: Int32 = 0x83
    }

    private let onOperation: errand_tls_write_callback = {
        object, operation, bytes, length, _, _, result, processed in
        guard let object, let library = TLSLibrary.loaded,
            let argument = library.writeArgument(object)
        else { return Int(result) }
        let hook = Unmanaged<ConnectionHook>.fromOpaque(argument)
        if operation == Operation.free {
            library.setWriteArgument(object, nil)
            hook.release()
            return Int(result)
        }
        let count = operation == Operation.hasRead && result > 0 ? processed?.pointee ?? 0 : 0
        let effect = hook._withUnsafeGuaranteedRef {
            $0.effect(
                operation, UnsafeRawBufferPointer(start: bytes, count: count),
                hasSucceeded: result > 0,
                // `BIO_FLAGS_SHOULD_RETRY`.
                mayRetry: library.testWriteFlags(object, 0x08) != 0)
        }
        // `BIO_FLAGS_READ` or `BIO_FLAGS_WRITE`, with `BIO_FLAGS_SHOULD_RETRY`.
        switch effect {
        case .proceed: return Int(result)
        case .readLater: library.setWriteFlags(object, 0x09)
        case .writeLater: library.setWriteFlags(object, 0x0A)
        case .written:
            processed?.pointee = length
            return 1
        }
        return -1
    }
#endif
