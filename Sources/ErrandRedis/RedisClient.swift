#if Redis
    import CHiredis
    import ErrandSystem
    import Synchronization

    /// Sends commands over a few connections, which one thread receives from.
    ///
    /// Commands of concurrent callers are pipelined: each is written at once, and replies are matched
    /// by their order. The thread and the connections begin with the first command.
    final class RedisClient: Sendable {
        /// Notices for the owner, called by the loop's thread.
        struct Handlers: Sendable {
            /// Something the user should know.
            var problem: @Sendable (RedisFailure) -> Void
            /// Keys were changed by another client; `nil`: all.
            var invalidated: @Sendable ([String]?) -> Void
            /// The connection for notices was alive after this time; `nil`: it was lost.
            var heartbeat: @Sendable (Int64?) -> Void
            /// Whether removals must be repeated before other commands are sent.
            ///
            /// It is called under the lock of the client.
            var needsRecovery: @Sendable () -> Bool
            /// Repeats the removals, then calls ``recovered()`` or ``recoveryFailed(_:)``.
            var recover: @Sendable () -> Void
        }

        let settings: RedisSettings
        let shared: RedisLoopState

        init(settings: RedisSettings, handlers: Handlers) {
            self.settings = settings
            shared = RedisLoopState(settings: settings, handlers: handlers)
        }

        deinit { shared.shutDown() }

        /// Sends commands together and returns their replies, in order.
        ///
        /// - Parameter isRecovery: Sends them before ``recovered()``.
        func perform(
            _ commands: [RedisCommand], isRecovery: Bool = false
        ) async throws(RedisFailure) -> [RedisReply] {
            let others = shared.callers.add(1, ordering: .relaxed).oldValue
            defer { shared.callers.subtract(1, ordering: .relaxed) }
            let outcome = await withCheckedContinuation { continuation in
                shared.submit(
                    RedisBatch(commands) { continuation.resume(returning: $0) },
                    isRecovery: isRecovery,
                    mayRead: others == 0 && errand_redis_is_main_thread() == 0)
            }
            return try outcome.get()
        }

        /// Sends one command and returns its reply; an error reply is thrown.
        func perform(
            _ command: RedisCommand, isRecovery: Bool = false
        ) async throws(RedisFailure) -> RedisReply {
            let replies = try await perform([command], isRecovery: isRecovery)
            guard let reply = replies.first else {
                throw RedisFailure(kind: .invalidReply, message: "no reply")
            }
            if case .error(let message) = reply { throw .refused(message) }
            return reply
        }

        /// Performs a script by its digest, or by its source if the server does not know it.
        func perform(
            _ script: StoreScript, _ arguments: [RedisCommand.Part], isRecovery: Bool = false
        ) async throws(RedisFailure) -> RedisReply {
            if let sha = shared.sha(of: script) {
                do throws(RedisFailure) {
                    return try await perform(
                        script.command(sha: sha, arguments), isRecovery: isRecovery)
                } catch {
                    guard error.isMissingScript else { throw error }
                }
            }
            return try await perform(script.command(arguments), isRecovery: isRecovery)
        }

        /// The missed removals were performed: other commands are sent from now on.
        func recovered() { shared.recovered() }

        /// A removal was missed: repeats it before other commands are sent.
        func demandRecovery() { shared.demandRecovery() }

        /// Recovery failed: connects again.
        func recoveryFailed(_ failure: RedisFailure) { shared.recoveryFailed(failure) }

        /// Whether lists must be made with `SCAN`, because the server may remove the index.
        var evictsIndex: Bool { shared.evictsIndex }
    }

    /// A monotonic time in nanoseconds.
    enum RedisTime {
        static var now: Int64 {
            var time = timespec()
            clock_gettime(CLOCK_MONOTONIC, &time)
            return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
        }
    }
#endif
