#if Redis
    import Foundation
    import Synchronization

    /// One connection: callers send, and the loop's thread or a caller receives.
    ///
    /// A caller writes to the socket itself, without blocking; only the rest that the socket does
    /// not accept is left to the loop. ``ReplyReading`` says who receives. Both save thread wake-ups.
    // @unchecked: only the reader that `reading` names uses `parser` and `buffer`, `state` the rest.
    final class RedisLink: @unchecked Sendable {
        private struct State {
            var output: [UInt8] = []
            var sent = 0
            var pending: [RedisBatch] = []
            var first = 0
            /// The time since which the oldest command makes no progress.
            var progress: Int64 = 0
            var isClosed = false
            var reading = ReplyReading()
            /// What a caller found wrong while it received; the loop ends the connection.
            var failure: RedisFailure?

            var isEmpty: Bool { first == pending.count }
        }

        let descriptor: Int32
        private let state = Mutex(State())
        private let parser: RedisParser
        private let buffer = UnsafeMutableRawBufferPointer.allocate(
            byteCount: 64 << 10, alignment: 16)

        /// Takes over a connected socket; `nil` if there is no memory.
        init?(descriptor: Int32) {
            guard let parser = RedisParser() else { return nil }
            self.parser = parser
            self.descriptor = descriptor
            let flags = fcntl(descriptor, F_GETFL)
            _ = fcntl(descriptor, F_SETFL, flags | O_NONBLOCK)
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            var yes: Int32 = 1
            // Fails for a Unix socket, which needs it not.
            _ = setsockopt(
                descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes,
                socklen_t(MemoryLayout<Int32>.size))
        }

        deinit {
            close(descriptor)
            buffer.deallocate()
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
                }
                state.pending.append(batch)
                var sent = Sent(isAccepted: true)
                if state.output.isEmpty {
                    // An error is found by the reader, which then reads the end of the connection.
                    let count = max(0, write(batch.bytes[...]))
                    if count < batch.bytes.count {
                        state.output = Array(batch.bytes[count...])
                        state.sent = 0
                        sent.wakesLoop = true
                    }
                } else {
                    state.output.append(contentsOf: batch.bytes)
                }
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
                if !state.isClosed, state.output.isEmpty { _ = write(bytes[...]) }
            }
        }

        private func write(_ bytes: ArraySlice<UInt8>) -> Int {
            bytes.withUnsafeBytes { bytes in
                while true {
                    let flags = Int32(MSG_DONTWAIT | MSG_NOSIGNAL)
                    let count = Foundation.send(descriptor, bytes.baseAddress, bytes.count, flags)
                    if count >= 0 || errno != EINTR { return count }
                }
            }
        }

        /// Whether bytes wait until the socket accepts them.
        var hasOutput: Bool { state.withLock { !$0.output.isEmpty } }

        /// The time since which the oldest command makes no progress; `nil` if none is pending.
        var waitingSince: Int64? { state.withLock { $0.isEmpty ? nil : $0.progress } }

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
                return state.reading.callerEnded(isIdle: state.isEmpty && failure == nil)
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

        /// Reads what has arrived, and passes each reply on.
        private func read(
            now: Int64, unexpected: (RedisReply) throws(RedisFailure) -> Void
        ) throws(RedisFailure) {
            while true {
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
                try parser.feed(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                while let reply = try parser.next() {
                    if !deliver(reply) { try unexpected(reply) }
                }
                state.withLock { $0.progress = now }
                if count < buffer.count { return }
            }
        }

        /// Passes a reply to the oldest batch; false if there is none.
        private func deliver(_ reply: RedisReply) -> Bool {
            // One locked section, so that `end` cannot fail a batch that has its last reply.
            let (isExpected, finished) = state.withLock { state -> (Bool, RedisBatch?) in
                guard !state.isEmpty else { return (false, nil) }
                let batch = state.pending[state.first]
                guard batch.add(reply) else { return (true, nil) }
                state.first += 1
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
