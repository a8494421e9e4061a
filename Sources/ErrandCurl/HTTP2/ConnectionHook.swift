#if os(Linux)
    import CLibcurl
    import ErrandOpenSSL

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

        /// Stops ignoring failed writes, and removes a hook without another purpose, because it
        /// costs time in each read and write.
        static func stopIgnoringFailedWrites(of connection: UnsafeMutableRawPointer) {
            guard let library = TLSLibrary.loaded, let object = library.stream(of: connection),
                let argument = library.streams.BIO_get_callback_arg(object)
            else { return }
            let hook = Unmanaged<ConnectionHook>.fromOpaque(argument)
            let isNeeded = hook._withUnsafeGuaranteedRef { hook in
                hook.ignoresFailedWrites = false
                return hook.reads != nil || hook.writes != nil
            }
            guard !isNeeded else { return }
            library.streams.BIO_set_callback_ex(object, nil)
            library.streams.BIO_set_callback_arg(object, nil)
            hook.release()
        }

        /// Removes the effects of earlier requests on a connection, and the hook.
        static func remove(from connection: UnsafeMutableRawPointer) {
            guard let library = TLSLibrary.loaded, let object = library.stream(of: connection),
                let argument = library.streams.BIO_get_callback_arg(object)
            else { return }
            library.streams.BIO_set_callback_ex(object, nil)
            library.streams.BIO_set_callback_arg(object, nil)
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

    /// The functions that ``onOperation`` needs: values, so that the loops do not count references to one
    /// object in each read and write.
    private struct HookFunctions: Sendable {
        static let loaded = LibcurlOpenSSL.streams.map { HookFunctions($0) }

        let argument: OpenSSL.Get
        let setArgument: OpenSSL.Set
        let setFlags: OpenSSL.SetNumber
        let testFlags: OpenSSL.Streams.TestFlags

        private init(_ streams: OpenSSL.Streams) {
            argument = streams.BIO_get_callback_arg
            setArgument = streams.BIO_set_callback_arg
            setFlags = streams.BIO_set_flags
            testFlags = streams.BIO_test_flags
        }
    }

    private let onOperation: OpenSSL.Streams.Callback = {
        object, operation, bytes, length, _, _, result, processed in
        guard let object, let library = HookFunctions.loaded,
            let argument = library.argument(object)
        else { return Int(result) }
        let hook = Unmanaged<ConnectionHook>.fromOpaque(argument)
        if operation == Operation.free {
            library.setArgument(object, nil)
            hook.release()
            return Int(result)
        }
        let count = operation == Operation.hasRead && result > 0 ? processed?.pointee ?? 0 : 0
        let effect = hook._withUnsafeGuaranteedRef {
            $0.effect(
                operation, UnsafeRawBufferPointer(start: bytes, count: count),
                hasSucceeded: result > 0,
                // `BIO_FLAGS_SHOULD_RETRY`.
                mayRetry: library.testFlags(object, 0x08) != 0)
        }
        // `BIO_FLAGS_READ` or `BIO_FLAGS_WRITE`, with `BIO_FLAGS_SHOULD_RETRY`.
        switch effect {
        case .proceed: return Int(result)
        case .readLater: library.setFlags(object, 0x09)
        case .writeLater: library.setFlags(object, 0x0A)
        case .written:
            processed?.pointee = length
            return 1
        }
        return -1
    }

    /// The reads of one shared connection.
    ///
    /// Over HTTP/2, libcurl 7.88 continues to read within one call until a frame contains something
    /// for the transfer. A server that sends endless frames without content, such as empty DATA,
    /// would block the loop and every deadline. So the reads of a connection are counted within a
    /// call. Beyond a limit the next read reports "would block": libcurl returns, and is called
    /// again at once, because the socket still has input.
    ///
    /// For the same reason libcurl may read the end of the connection before it has processed the
    /// end of an earlier stream, and confuse the two: a response that RST_STREAM truncated is
    /// accepted as complete, and a complete response is reported as truncated. So the end is read
    /// in a separate call.
    final class SharedReads {
        /// Enough for some hundred TLS records; libcurl returns much earlier if they have content.
        private static let maximumReads = 1000

        // The loop closes its connections before it is released.
        private unowned(unsafe) let loop: EventLoop
        /// Whether the next read may return an alert that ends the connection.
        private var isAtAlert = false
        /// The number of the libcurl call that first reached the end of the connection.
        private var endingCall: UInt64?

        init(of loop: EventLoop) { self.loop = loop }

        /// Returns whether a read may happen now.
        func mayRead() -> Bool {
            // Two reads for each response: a reference for each access costs more than the count.
            let reads = Unmanaged.passUnretained(loop)._withUnsafeGuaranteedRef { loop in
                loop.readsInCall += 1
                return loop.readsInCall
            }
            guard reads <= Self.maximumReads else { return false }
            guard isAtAlert else { return true }
            if postponesEnd() { return false }
            isAtAlert = false
            return true
        }

        /// Detects the header of a record with an alert; since TLS 1.3 only its size identifies it
        /// (RFC 8446 §5.2).
        func hasRead(_ bytes: UnsafeRawBufferPointer) {
            guard bytes.count == 5 else { return }
            let isSmall = bytes[3] == 0 && bytes[4] == 19
            isAtAlert = bytes[0] == 21 || bytes[0] == 23 && isSmall
            if isAtAlert { endingCall = nil }
        }

        /// Returns whether the end of the connection is deferred to the next call, after all its
        /// streams have processed earlier data.
        func postponesEnd() -> Bool {
            let call = endingCall ?? loop.callNumber
            endingCall = call
            return call == loop.callNumber
        }
    }

    /// The failed writes of one connection, on which an upload is sent over HTTP/1 and TLS.
    ///
    /// A server that refuses an upload and closes at once resets the connection. Linux keeps
    /// earlier input readable, but writing fails at once, and libcurl gives up with the response
    /// unread. Over TLS this is the usual case, because a piece of a body takes several writes. So a
    /// write that fails while the socket has input is reported as "would block": libcurl reads
    /// first, and the next write fails if that input was no response.
    ///
    /// With TLS 1.3, a server that rejects the client's certificate sends its alert after the
    /// handshake, so the first request may be written after the server has reset the connection. So
    /// until the peer responds, failed writes on a new connection are reported as successful:
    /// libcurl then reads the alert, or finds the reset. "Would block" would not do, because libcurl
    /// 7.88 does not expect it when it writes the preface of HTTP/2.
    struct FailedWrites {
        private let socket: Int32
        /// The number of unread bytes at the last failed write.
        private var unread: Int32 = 0

        init(on socket: Int32) { self.socket = socket }

        /// Returns whether libcurl should read before the failure of a write is reported.
        mutating func postpone() -> Bool {
            let unread = errand_unread(socket)
            // If the number is unchanged, nothing is being read, because the receiver pauses.
            guard unread > 0, unread != self.unread else { return false }
            self.unread = unread
            return true
        }
    }
#endif
