#if Redis
    import ErrandSystem
    import Synchronization

    /// One connection: callers send, and the loop's thread or a caller receives.
    ///
    /// A caller writes to the socket itself, without blocking; only the rest that the socket does
    /// not accept is left to the loop. ``ReplyReading`` says who receives. Both save thread wake-ups.
    // @unchecked: only the reader that `reading` names uses `parser` and the buffers, `state` the rest.
    final class RedisLink: @unchecked Sendable {
        private struct State {
            /// The bytes that the socket has not accepted, encrypted if the connection uses TLS.
            var output: [UInt8] = []
            var sent = 0
            var pending: [RedisBatch] = []
            var first = 0
            /// The time since which the oldest command makes no progress.
            var progress: Int64 = 0
            /// The time since which the oldest command is the oldest.
            var oldestSince: Int64 = 0
            /// The bytes of strings that had been received at ``progress``.
            var textBytes: UInt64 = 0
            var isClosed = false
            var reading = ReplyReading()
            /// What a caller found wrong while it received; the loop ends the connection.
            var failure: RedisFailure?

            var isEmpty: Bool { first == pending.count }
        }

        let descriptor: Int32
        private let state = Mutex(State())
        private var parser: RedisParser
        private let buffer = UnsafeMutableRawBufferPointer.allocate(
            byteCount: 64 << 10, alignment: 16)
        private let tls: TLSSession?
        /// The decrypted bytes of one TLS record; empty without TLS.
        private let plain: UnsafeMutableRawBufferPointer

        /// Takes over a connected socket; `nil` if there is no memory.
        ///
        /// - Parameter tls: The session of a connection with TLS, before its handshake.
        init?(descriptor: Int32, tls: TLSSession? = nil) {
            guard let parser = RedisParser() else { return nil }
            self.parser = parser
            self.descriptor = descriptor
            self.tls = tls
            plain = .allocate(byteCount: tls == nil ? 0 : 16 << 10, alignment: 16)
            let flags = fcntl(descriptor, F_GETFL)
            _ = fcntl(descriptor, F_SETFL, flags | O_NONBLOCK)
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            var yes: Int32 = 1
            // Fails for a Unix socket, which needs it not.
            _ = setsockopt(
                descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes,
                socklen_t(MemoryLayout<Int32>.size))
            #if canImport(Darwin)
                // Otherwise a write to a closed connection ends the process with SIGPIPE.
                _ = setsockopt(
                    descriptor, SOL_SOCKET, SO_NOSIGPIPE, &yes,
                    socklen_t(MemoryLayout<Int32>.size))
            #endif
        }

        deinit {
            close(descriptor)
            buffer.deallocate()
            plain.deallocate()
        }

        /// What became of a batch.
        struct Sent {
            /// Whether the connection accepted it.
            var isAccepted = false
            /// Whether the loop must be woken.
            var wakesLoop = false
            /// Whether the caller must call ``receiveReply(of:until:)``.
            var callerReads = false
        }

        /// Sends a batch.
        ///
        /// - Parameter mayRead: Whether the caller can wait for the reply.
        func send(_ batch: RedisBatch, now: Int64, mayRead: Bool) -> Sent {
            state.withLock { state in
                guard !state.isClosed else { return Sent() }
                let isAlone = state.isEmpty
                if isAlone {
                    state.pending.removeAll(keepingCapacity: true)
                    state.first = 0
                    state.progress = now
                    state.oldestSince = now
                }
                state.pending.append(batch)
                var sent = Sent(isAccepted: true)
                sent.wakesLoop = transmit(batch.bytes, &state)
                let reading = state.reading.sent(
                    isAlone: isAlone && state.output.isEmpty, mayRead: mayRead)
                sent.callerReads = reading.callerReads
                sent.wakesLoop = sent.wakesLoop || reading.wakesLoop
                return sent
            }
        }

        /// Sends bytes whose reply no batch receives, if the socket accepts them.
        func sendUnwatched(_ bytes: [UInt8]) {
            state.withLock { state in
                if !state.isClosed, state.output.isEmpty { _ = transmit(bytes, &state) }
            }
        }

        /// Sends bytes, encrypted if the connection uses TLS, after those that wait.
        ///
        /// - Returns: Whether the loop must be woken, because it must send the rest.
        private func transmit(_ bytes: [UInt8], _ state: inout State) -> Bool {
            guard let tls else { return append(bytes, &state) }
            // The reader then reads the end of the connection.
            if !tls.encrypt(bytes) { shutdown(descriptor, Int32(SHUT_RDWR)) }
            return append(tls.takeOutput(), &state)
        }

        private func append(_ bytes: [UInt8], _ state: inout State) -> Bool {
            guard state.output.isEmpty else {
                state.output.append(contentsOf: bytes)
                return false
            }
            // An error is found by the reader, which then reads the end of the connection.
            let count = max(0, write(bytes[...]))
            guard count < bytes.count else { return false }
            state.output = Array(bytes[count...])
            state.sent = 0
            return true
        }

        private func write(_ bytes: ArraySlice<UInt8>) -> Int {
            bytes.withUnsafeBytes { bytes in
                while true {
                    let flags = Int32(MSG_DONTWAIT) | SocketConstant.noSignal
                    let count = ErrandSystem.send(descriptor, bytes.baseAddress, bytes.count, flags)
                    if count >= 0 || errno != EINTR { return count }
                }
            }
        }

        /// Whether bytes wait until the socket accepts them.
        var hasOutput: Bool { state.withLock { !$0.output.isEmpty } }

        /// The number of limits after which a command ends, although its reply makes progress.
        private static let limitsOfReply: Int64 = 20
        /// The bytes of a reply that count as progress; fewer could keep a command waiting for ever.
        private static let bytesOfProgress: UInt64 = 16 << 10
        /// How often a read continues at most, before the clock is checked: 1 MiB.
        private static let readsAtOnce = 16

        /// The time at which the oldest command ends for lack of progress; `nil` if none is pending.
        ///
        /// A reply makes progress if it is complete, and with each 16 KiB of its strings.
        func deadline(limit: Int64) -> Int64? {
            state.withLock { state in
                guard !state.isEmpty else { return nil }
                let (last, overflow) = limit.multipliedReportingOverflow(by: Self.limitsOfReply)
                return min(
                    state.progress + limit,
                    overflow ? .max : state.oldestSince.addingReportingOverflow(last).partialValue)
            }
        }

        /// Sends what the socket accepts.
        func flush(now: Int64) {
            state.withLock { state in
                guard !state.isClosed, !state.output.isEmpty else { return }
                let count = write(state.output[state.sent...])
                guard count > 0 else { return }
                state.progress = now
                state.sent += count
                if state.sent == state.output.count {
                    state.output = []
                    state.sent = 0
                }
            }
        }

        /// Whether the loop polls the connection.
        var isWatched: Bool { state.withLock { $0.reading.reader == .loop } }

        /// Lets the loop poll the connection again if it was not used since the last call.
        func checkUse() { state.withLock { $0.reading.check() } }

        /// Lets the loop read the end of the connection, unless a caller does.
        func connectionEnded() { state.withLock { $0.reading.connectionEnded() } }

        /// Receives for the loop what has arrived, unless a caller receives.
        ///
        /// - Parameter unexpected: Called with a reply to which no command belongs.
        func receive(
            now: Int64, unexpected: (RedisReply) throws(RedisFailure) -> Void
        ) throws(RedisFailure) {
            let (begins, failure) = state.withLock { ($0.reading.loopBegins(), $0.failure) }
            guard begins else { return }
            defer { state.withLock { $0.reading.loopEnded() } }
            if let failure { throw failure }
            try read(now: now, unexpected: unexpected)
        }

        /// Waits for the reply of the caller's batch, and passes on what has arrived.
        ///
        /// - Parameter time: The time after which the connection is left to the loop.
        /// - Returns: Whether the loop must be woken.
        func receiveReply(of batch: RedisBatch, until time: Int64) -> Bool {
            var failure: RedisFailure?
            do throws(RedisFailure) {
                while isPending(batch), waitForInput(until: time) {
                    try read(now: RedisTime.now, unexpected: RedisFailure.refuse)
                }
            } catch { failure = error }
            return state.withLock { state in
                state.failure = failure
                let isIdle = state.isEmpty && failure == nil && state.output.isEmpty
                return state.reading.callerEnded(isIdle: isIdle)
            }
        }

        /// Whether a batch is the oldest that has no reply.
        private func isPending(_ batch: RedisBatch) -> Bool {
            state.withLock { !$0.isEmpty && $0.pending[$0.first] === batch }
        }

        private func waitForInput(until time: Int64) -> Bool {
            let rest = time - RedisTime.now
            guard rest > 0 else { return false }
            return PreciseWait.forInput(descriptor, nanoseconds: rest)
        }

        /// Waits until bytes have arrived, or can be sent; false after the time.
        ///
        /// For the thread that makes the connection.
        func waitForProgress(until time: Int64) -> Bool {
            while true {
                let rest = time - RedisTime.now
                guard rest > 0 else { return false }
                let isReady = PreciseWait.forInput(
                    descriptor, orOutput: hasOutput, nanoseconds: rest)
                // A signal can end the wait as well.
                if isReady { return true }
            }
        }

        /// Continues the TLS handshake, without blocking; whether it is complete.
        ///
        /// For the thread that makes the connection.
        func handshake() throws(RedisFailure) -> Bool {
            guard let tls else { return true }
            // A failed handshake sends its reason to the server.
            defer { state.withLock { _ = append(tls.takeOutput(), &$0) } }
            flush(now: RedisTime.now)
            if try tls.handshake() { return true }
            let count = recv(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
            if count > 0 {
                tls.feed(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                return try tls.handshake()
            }
            guard count < 0, errno == EAGAIN || errno == EINTR else {
                throw RedisFailure(
                    kind: .connectionLost,
                    message: "the server closed the connection during the TLS handshake")
            }
            return false
        }

        /// Reads what has arrived, and passes each reply on.
        private func read(
            now: Int64, unexpected: (RedisReply) throws(RedisFailure) -> Void
        ) throws(RedisFailure) {
            for _ in 0..<Self.readsAtOnce {
                let count = recv(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
                if count == 0 {
                    throw RedisFailure(
                        kind: .connectionLost, message: "the server closed the connection")
                }
                if count < 0 {
                    if errno == EINTR { continue }
                    if errno == EAGAIN { return }
                    throw RedisFailure(
                        kind: .connectionLost, message: String(cString: strerror(errno)))
                }
                let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count])
                if let tls {
                    try decrypt(bytes, tls, now: now, unexpected)
                } else {
                    try parse(bytes, now: now, unexpected)
                }
                let received = parser.textBytes
                state.withLock { state in
                    guard received &- state.textBytes >= Self.bytesOfProgress else { return }
                    state.progress = now
                    state.textBytes = received
                }
                if count < buffer.count { return }
            }
        }

        /// Passes on the replies in encrypted bytes.
        private func decrypt(
            _ bytes: UnsafeRawBufferPointer, _ tls: TLSSession, now: Int64,
            _ unexpected: (RedisReply) throws(RedisFailure) -> Void
        ) throws(RedisFailure) {
            tls.feed(bytes)
            while true {
                let count = try tls.read(into: plain)
                guard count > 0 else { break }
                try parse(UnsafeRawBufferPointer(rebasing: plain[..<count]), now: now, unexpected)
            }
            // TLS itself responds to some messages, such as a request for a renegotiation.
            if tls.hasOutput { state.withLock { _ = append(tls.takeOutput(), &$0) } }
        }

        /// Passes on the replies in bytes.
        private func parse(
            _ bytes: UnsafeRawBufferPointer, now: Int64,
            _ unexpected: (RedisReply) throws(RedisFailure) -> Void
        ) throws(RedisFailure) {
            try parser.feed(bytes)
            while let reply = try parser.next() {
                if !deliver(reply, now: now) { try unexpected(reply) }
            }
        }

        /// Passes a reply to the oldest batch; false if there is none.
        private func deliver(_ reply: RedisReply, now: Int64) -> Bool {
            // One locked section, so that `end` cannot fail a batch that has its last reply.
            let (isExpected, finished) = state.withLock { state -> (Bool, RedisBatch?) in
                guard !state.isEmpty else { return (false, nil) }
                let batch = state.pending[state.first]
                state.progress = now
                guard batch.add(reply) else { return (true, nil) }
                state.first += 1
                state.oldestSince = now
                // Batches that were finished are released, without moving the others each time.
                if state.first >= 64, state.first * 2 >= state.pending.count {
                    state.pending.removeFirst(state.first)
                    state.first = 0
                }
                return (true, batch)
            }
            finished?.succeed()
            return isExpected
        }

        /// Refuses further commands and fails those that are pending.
        func end(_ failure: RedisFailure) {
            let pending = state.withLock { state in
                state.isClosed = true
                defer {
                    state.pending = []
                    state.first = 0
                    state.output = []
                }
                return state.pending[state.first...]
            }
            shutdown(descriptor, Int32(SHUT_RDWR))
            for batch in pending { batch.fail(failure) }
        }
    }
#endif
