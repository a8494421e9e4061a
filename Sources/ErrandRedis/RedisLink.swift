#if Redis
    import Foundation
    import Synchronization

    /// One connection: callers send, the loop's thread receives.
    ///
    /// A caller writes to the socket itself, without blocking; only the rest that the socket does
    /// not accept is left to the loop. This saves a thread wake-up for each command.
    // @unchecked: `parser` and `buffer` are used by the loop's thread only, all else by `state`.
    final class RedisLink: @unchecked Sendable {
        private struct State {
            var output: [UInt8] = []
            var sent = 0
            var pending: [RedisBatch] = []
            var first = 0
            /// The time since which the oldest command makes no progress.
            var progress: Int64 = 0
            var isClosed = false

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

        /// Sends a batch; false if the connection was closed.
        ///
        /// - Parameter needsLoop: Set if the loop must send the rest.
        func send(_ batch: RedisBatch, now: Int64, needsLoop: inout Bool) -> Bool {
            state.withLock { state in
                guard !state.isClosed else { return false }
                if state.isEmpty {
                    state.pending.removeAll(keepingCapacity: true)
                    state.first = 0
                    state.progress = now
                }
                state.pending.append(batch)
                if state.output.isEmpty {
                    // An error is found by the loop, which then reads the end of the connection.
                    let count = max(0, write(batch.bytes[...]))
                    if count < batch.bytes.count {
                        state.output = Array(batch.bytes[count...])
                        state.sent = 0
                        needsLoop = true
                    }
                } else {
                    state.output.append(contentsOf: batch.bytes)
                }
                return true
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

        /// Receives what has arrived, and passes each reply on.
        ///
        /// - Parameter unexpected: Called with a reply to which no command belongs.
        func receive(
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
                    if !deliver(reply, now: now) { try unexpected(reply) }
                }
                state.withLock { $0.progress = now }
                if count < buffer.count { return }
            }
        }

        private func deliver(_ reply: RedisReply, now: Int64) -> Bool {
            let batch = state.withLock { state in
                state.isEmpty ? nil : state.pending[state.first]
            }
            guard let batch else { return false }
            guard batch.add(reply) else { return true }
            state.withLock { state in
                state.first += 1
                // Batches that were finished are released, without moving the others each time.
                if state.first >= 64, state.first * 2 >= state.pending.count {
                    state.pending.removeFirst(state.first)
                    state.first = 0
                }
            }
            batch.succeed()
            return true
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
