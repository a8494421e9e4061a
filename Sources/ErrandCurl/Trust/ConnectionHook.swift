#if os(Linux)
    import CLibcurl

    /// What is done about the reads and writes of one TLS connection: OpenSSL has room for one callback, and one argument,
    /// in the object that a connection reads and writes by.
    ///
    /// It belongs to that object, and goes with it.
    final class ConnectionHook {
        /// What to do instead of what was about to be done, or was done.
        enum Verdict {
            case goOn
            /// Say that there is nothing to read now.
            case readLater
            /// Say that there is no room to write now.
            case writeLater
        }

        /// For connections that are shared; see Exchange+Flood.swift.
        var reads: SharedReads?
        /// For those that are not; see Exchange+LastWords.swift.
        var writes: FailedWrites?
        /// Whether a read found the end of the connection below TLS, which is not looked for behind the peer's goodbye.
        private(set) var hasEnded = false

        /// What is looked at in one connection; made when it is first asked for.
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

        fileprivate func verdict(
            _ operation: Int32, _ bytes: UnsafeRawBufferPointer, hasSucceeded: Bool,
            mayRetry: @autoclosure () -> Bool
        ) -> Verdict {
            switch operation {
            case Operation.read: return reads?.mayBegin() ?? true ? .goOn : .readLater
            case Operation.hasRead:
                if hasSucceeded {
                    reads?.hasRead(bytes)
                } else if !mayRetry() {
                    if reads?.postponesEnd() == true { return .readLater }
                    hasEnded = true
                }
                return .goOn
            case Operation.hasWritten:
                guard !hasSucceeded, !mayRetry(), writes?.postpone() == true else { return .goOn }
                return .writeLater
            default: return .goOn
            }
        }
    }

    /// `BIO_CB_FREE`, `BIO_CB_READ`, and with `BIO_CB_RETURN`.
    private enum Operation {
        static let free: Int32 = 0x01
        static let read: Int32 = 0x02
        static let hasRead: Int32 = 0x82
        static let hasWritten: Int32 = 0x83
    }

    private let onOperation: errand_tls_write_callback = {
        object, operation, bytes, _, _, _, result, processed in
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
        let verdict = hook._withUnsafeGuaranteedRef {
            $0.verdict(
                operation, UnsafeRawBufferPointer(start: bytes, count: count),
                hasSucceeded: result > 0,
                // `BIO_FLAGS_SHOULD_RETRY`.
                mayRetry: library.testWriteFlags(object, 0x08) != 0)
        }
        // `BIO_FLAGS_READ` or `BIO_FLAGS_WRITE`, with that.
        switch verdict {
        case .goOn: return Int(result)
        case .readLater: library.setWriteFlags(object, 0x09)
        case .writeLater: library.setWriteFlags(object, 0x0A)
        }
        return -1
    }
#endif
