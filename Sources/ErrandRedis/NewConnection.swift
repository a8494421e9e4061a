#if Redis
    import CHiredis
    import ErrandHTTP
    import ErrandSystem
    import Synchronization

    /// A connection that one thread makes and uses, before the loop does.
    ///
    /// Each step blocks the thread, at most for the limit of the settings.
    struct NewConnection {
        let link: RedisLink
        private let limit: Duration

        /// Connects, and performs the TLS handshake.
        ///
        /// - Parameter context: The context of TLS; `nil` without TLS.
        init(_ settings: RedisSettings, _ context: TLSContext?) throws(RedisFailure) {
            limit = settings.connectLimit
            let descriptor = try Self.connect(settings.address, limit)
            var tls: TLSSession?
            if let context {
                guard let session = TLSSession(context, name: settings.serverName) else {
                    close(descriptor)
                    throw Self.noMemory
                }
                tls = session
            }
            guard let link = RedisLink(descriptor: descriptor, tls: tls) else {
                close(descriptor)
                throw Self.noMemory
            }
            self.link = link
            try secure()
        }

        private static var noMemory: RedisFailure {
            RedisFailure(kind: .unreachable, message: "no memory for a connection")
        }

        /// Connects with hiredis; the caller owns the descriptor.
        private static func connect(
            _ address: RedisResponseStore.Address, _ limit: Duration
        ) throws(RedisFailure) -> Int32 {
            let nanoseconds = max(limit.clamped.wholeNanoseconds, 1_000_000)
            let time = timeval(
                tv_sec: Int(nanoseconds / 1_000_000_000),
                tv_usec: numericCast(nanoseconds % 1_000_000_000 / 1000))
            let made =
                switch address {
                case .host(let host, let port):
                    redisConnectWithTimeout(host, Int32(clamping: port), time)
                case .unixSocket(let path): redisConnectUnixWithTimeout(path, time)
                }
            guard let made else { throw noMemory }
            guard made.pointee.err == 0 else {
                let isTimeout = errno == ETIMEDOUT || errno == EAGAIN || errno == EINPROGRESS
                defer { redisFree(made) }
                throw RedisFailure(
                    kind: .unreachable,
                    message: isTimeout
                        ? "no connection within \(limit.wholeMilliseconds) ms"
                        : "cannot connect: \(text(made))")
            }
            return redisFreeKeepFd(made)
        }

        private static func text(_ context: UnsafeMutablePointer<redisContext>) -> String {
            withUnsafeBytes(of: context.pointee.errstr) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
        }

        private func secure() throws(RedisFailure) {
            let deadline = deadline
            while try !link.handshake() {
                guard link.waitForProgress(until: deadline) else {
                    throw RedisFailure(
                        kind: .unreachable,
                        message: "no TLS handshake within \(limit.wholeMilliseconds) ms; the port "
                            + "may not be the server's TLS port")
                }
            }
        }

        private var deadline: Int64 {
            RedisTime.now + max(limit.clamped.wholeNanoseconds, 1_000_000)
        }

        /// Sends a command and waits for its reply.
        func perform(_ command: RedisCommand) throws(RedisFailure) -> RedisReply {
            let result = Result()
            let batch = RedisBatch([command]) { result.set($0) }
            let deadline = deadline
            _ = link.send(batch, now: RedisTime.now, mayRead: false)
            while true {
                if let outcome = result.outcome {
                    guard let reply = try outcome.get().first else { throw Self.noMemory }
                    return reply
                }
                guard link.waitForProgress(until: deadline) else { throw .timedOut(limit) }
                link.flush(now: RedisTime.now)
                try link.receive(now: RedisTime.now, unexpected: RedisFailure.refuse)
            }
        }

        /// The outcome of a command.
        private final class Result: Sendable {
            private let state = Mutex<RedisBatch.Outcome?>(nil)

            var outcome: RedisBatch.Outcome? { state.withLock { $0 } }

            func set(_ outcome: RedisBatch.Outcome) { state.withLock { $0 = outcome } }
        }

        /// Sends the credentials and selects the database.
        func introduce(_ settings: RedisSettings) throws(RedisFailure) {
            do throws(RedisFailure) {
                try logIn(settings)
            } catch {
                // A TLS server does not reply to a command that is not encrypted.
                guard error.kind == .connectionLost, settings.tls == nil else { throw error }
                throw RedisFailure(
                    kind: error.kind,
                    message: "\(error.message) at the first command; set `tls` if the port "
                        + "requires TLS")
            }
        }

        private func logIn(_ settings: RedisSettings) throws(RedisFailure) {
            if let password = settings.password {
                let user = settings.username.map { [RedisCommand.Part.text($0)] } ?? []
                try check(perform(RedisCommand(["AUTH"] + user + [.text(password)])))
            }
            try check(perform(RedisCommand("PING")))
            if settings.database != 0 {
                try check(perform(RedisCommand("SELECT", .number(settings.database))))
            }
        }

        private func check(_ reply: RedisReply) throws(RedisFailure) {
            if case .error(let message) = reply { throw .refused(message) }
        }
    }
#endif
