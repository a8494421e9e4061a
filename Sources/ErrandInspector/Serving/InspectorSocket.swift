#if Inspector
    import ErrandCore
    import ErrandHTTP
    import ErrandSystem
    import Synchronization

    /// A TCP socket that never blocks a thread.
    ///
    /// One task reads, writes and closes it. ``shutDown()`` can be called by others.
    final class InspectorSocket: Sendable {
        /// The result of an attempt to accept a connection.
        enum Accepted {
            case connection(InspectorSocket)
            /// There is no further connection.
            case none
            /// Descriptors or memory are exhausted; the connection remains in the queue of the system.
            case exhausted
        }

        private let descriptor: Int32
        private let isOpen = Mutex(true)
        private let queue: DispatchQueue

        private init(_ descriptor: Int32, _ queue: DispatchQueue) {
            self.descriptor = descriptor
            self.queue = queue
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
            #if canImport(Darwin)
                // Otherwise a write to a closed connection ends the process with SIGPIPE.
                Self.enable(SO_NOSIGPIPE, SOL_SOCKET, descriptor)
            #endif
        }

        /// Listens on a port of 127.0.0.1; 0 lets the system choose.
        static func listening(
            on port: UInt16, _ queue: DispatchQueue
        ) throws -> (socket: InspectorSocket, port: UInt16) {
            let descriptor = socket(AF_INET, SocketConstant.stream, 0)
            guard descriptor >= 0 else { throw POSIXError.last }
            let socket = InspectorSocket(descriptor, queue)
            enable(SO_REUSEADDR, SOL_SOCKET, descriptor)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr = in_addr(s_addr: UInt32(0x7F00_0001).bigEndian)
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let isListening = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    bind(descriptor, address, length) == 0 && listen(descriptor, 128) == 0
                        && getsockname(descriptor, address, &length) == 0
                }
            }
            guard isListening else {
                let error = POSIXError.last
                socket.close()
                throw error
            }
            return (socket, UInt16(bigEndian: address.sin_port))
        }

        private static func enable(_ option: Int32, _ level: Int32, _ descriptor: Int32) {
            var one: Int32 = 1
            setsockopt(descriptor, level, option, &one, socklen_t(MemoryLayout<Int32>.size))
        }

        /// Accepts a connection.
        func accepted() -> Accepted {
            while true {
                let peer = accept(descriptor, nil, nil)
                if peer >= 0 {
                    Self.enable(TCP_NODELAY, Int32(IPPROTO_TCP), peer)
                    return .connection(InspectorSocket(peer, queue))
                }
                switch errno {
                case EINTR, ECONNABORTED: continue
                case EMFILE, ENFILE, ENOBUFS, ENOMEM: return .exhausted
                default: return .none
                }
            }
        }

        /// Calls a handler on the queue whenever the socket is readable, until the source is cancelled.
        ///
        /// The cancelled source closes the socket, then calls `closed`.
        func readSource(
            _ handler: @escaping @Sendable () -> Void, closed: @escaping @Sendable () -> Void
        ) -> any DispatchSourceRead {
            let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
            source.setEventHandler(handler: handler)
            source.setCancelHandler { [self] in
                close()
                closed()
            }
            return source
        }

        /// Waits for bytes and reads up to this many; `nil` at the end or after an error.
        func read(atMost capacity: Int) async -> [UInt8]? {
            while true {
                var count = 0
                let bytes = [UInt8](unsafeUninitializedCapacity: capacity) { buffer, size in
                    count = recv(descriptor, buffer.baseAddress, capacity, 0)
                    size = max(count, 0)
                }
                if count > 0 { return bytes }
                if count == 0 { return nil }
                switch errno {
                case EINTR: continue
                case EAGAIN:
                    await ready { DispatchSource.makeReadSource(fileDescriptor: $0, queue: $1) }
                default: return nil
                }
            }
        }

        /// Sends a part of the bytes, after a wait for space; `nil` after an error.
        func send(_ bytes: ArraySlice<UInt8>) async -> Int? {
            while true {
                let count = bytes.withUnsafeBytes { buffer in
                    ErrandSystem.send(
                        descriptor, buffer.baseAddress, buffer.count, SocketConstant.noSignal)
                }
                if count >= 0 { return count }
                switch errno {
                case EINTR: continue
                case EAGAIN:
                    await ready { DispatchSource.makeWriteSource(fileDescriptor: $0, queue: $1) }
                default: return nil
                }
            }
        }

        /// Suspends until a new source has an event.
        private func ready(
            _ make: (Int32, DispatchQueue) -> any DispatchSourceProtocol
        ) async {
            await withCheckedContinuation { continuation in
                let source = make(descriptor, queue)
                source.setEventHandler { source.cancel() }
                // The descriptor may be closed only after this call.
                source.setCancelHandler { continuation.resume() }
                source.activate()
            }
        }

        /// Ends both directions, which ends a wait.
        func shutDown() { shutDown(Int32(SHUT_RDWR)) }

        /// Ends the responses; the client may continue to send.
        func finishSending() { shutDown(Int32(SHUT_WR)) }

        private func shutDown(_ directions: Int32) {
            isOpen.withLock { isOpen in
                // A closed number may belong to another file.
                if isOpen { _ = shutdown(descriptor, directions) }
            }
        }

        /// Closes the socket; a second call has no effect.
        func close() {
            isOpen.withLock { isOpen in
                guard isOpen else { return }
                isOpen = false
                ErrandSystem.close(descriptor)
            }
        }
    }
#endif
