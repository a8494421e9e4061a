#if Redis
    import CHiredis
    import Foundation

    /// The settings of the connections.
    struct RedisSettings: Sendable {
        var address: RedisResponseStore.Address
        var username: String?
        var password: String?
        var database: Int
        var connections: Int
        var connectLimit: Duration
        var commandLimit: Duration
        /// Whether the memory tier needs notices of changed keys.
        var wantsInvalidation: Bool
    }

    /// Connects and introduces itself, with hiredis' blocking functions, on a thread of its own.
    struct RedisConnector: Sendable {
        let settings: RedisSettings

        /// A set of connections.
        struct Session: Sendable {
            var links: [RedisLink] = []
            /// The connection that receives notices of changed keys, if the server supports them.
            var invalidation: RedisLink?
            /// The SHA-1 of each script.
            var scripts: [String] = []
            /// Whether the server removes keys without a time to live when its memory is full.
            var evictsIndex = false
            /// What the server cannot do.
            var problems: [RedisFailure] = []
        }

        /// Makes all connections.
        func connect() throws(RedisFailure) -> Session {
            var session = Session()
            var redirect: Int?
            if settings.wantsInvalidation {
                do throws(RedisFailure) {
                    let (link, id) = try connectInvalidation()
                    session.invalidation = link
                    redirect = id
                } catch {
                    guard error.kind == .refused else { throw error }
                    session.problems.append(Self.noTracking(error))
                }
            }
            for number in 0..<settings.connections {
                let connection = try BlockingConnection(settings)
                try connection.introduce(settings)
                if let redirect {
                    let reply = try connection.perform(Self.tracking(redirect))
                    if case .error(let message) = reply {
                        session.invalidation = nil
                        session.problems.append(Self.noTracking(.refused(message)))
                    }
                }
                if number == 0 { try prepare(&session, connection) }
                session.links.append(try connection.release())
            }
            return session
        }

        /// The command that directs notices about the keys read by a connection to another one.
        static func tracking(_ client: Int) -> RedisCommand {
            RedisCommand("CLIENT", "TRACKING", "ON", "REDIRECT", .number(client))
        }

        private static func noTracking(_ failure: RedisFailure) -> RedisFailure {
            RedisFailure(
                kind: .refused,
                message:
                    "CLIENT TRACKING is not available (\(failure.message)), so no entry is kept "
                    + "in memory")
        }

        private func prepare(
            _ session: inout Session, _ connection: BlockingConnection
        ) throws(RedisFailure) {
            for script in StoreScript.all {
                let reply = try connection.perform(
                    RedisCommand("SCRIPT", "LOAD", .text(script.source)))
                if case .error(let message) = reply { throw .refused(message) }
                session.scripts.append(reply.text ?? "")
            }
            let memory = try connection.perform(RedisCommand("INFO", "memory")).text
            // Without the information, the index is not trusted.
            session.evictsIndex = memory?.contains("maxmemory_policy:allkeys") ?? true
        }

        /// Makes the connection for notices; returns it with its number on the server.
        func connectInvalidation() throws(RedisFailure) -> (RedisLink, Int) {
            let connection = try BlockingConnection(settings)
            try connection.introduce(settings)
            let id = try connection.perform(RedisCommand("CLIENT", "ID"))
            guard let number = id.number else { throw .refused(id.text ?? "no client id") }
            let reply = try connection.perform(RedisCommand("SUBSCRIBE", "__redis__:invalidate"))
            if case .error(let message) = reply { throw .refused(message) }
            return (try connection.release(), number)
        }
    }

    /// A connection that is made and used by one thread.
    private final class BlockingConnection {
        private var context: UnsafeMutablePointer<redisContext>?
        private let limit: Duration

        init(_ settings: RedisSettings) throws(RedisFailure) {
            limit = settings.connectLimit
            let nanoseconds = max(settings.connectLimit.wholeNanoseconds, 1_000_000)
            let time = timeval(
                tv_sec: Int(nanoseconds / 1_000_000_000),
                tv_usec: Int(nanoseconds % 1_000_000_000 / 1000))
            context =
                switch settings.address {
                case .host(let host, let port):
                    redisConnectWithTimeout(host, Int32(clamping: port), time)
                case .unixSocket(let path): redisConnectUnixWithTimeout(path, time)
                }
            guard let context else {
                throw RedisFailure(kind: .unreachable, message: "no memory for a connection")
            }
            guard context.pointee.err == 0 else {
                let isTimeout = errno == ETIMEDOUT || errno == EAGAIN || errno == EINPROGRESS
                defer { end() }
                throw RedisFailure(
                    kind: .unreachable,
                    message: isTimeout
                        ? "no connection within \(limit.wholeMilliseconds) ms"
                        : "cannot connect: \(text)")
            }
            redisSetTimeout(context, time)
        }

        deinit { end() }

        private func end() {
            if let context { redisFree(context) }
            context = nil
        }

        private var text: String {
            guard let context else { return "closed" }
            return withUnsafeBytes(of: context.pointee.errstr) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
        }

        /// Sends a command and waits for its reply.
        func perform(_ command: RedisCommand) throws(RedisFailure) -> RedisReply {
            guard let context else { throw RedisFailure(kind: .connectionLost, message: "closed") }
            command.bytes.withUnsafeBytes { bytes in
                _ = redisAppendFormattedCommand(
                    context, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count)
            }
            var reply: UnsafeMutableRawPointer?
            guard redisGetReply(context, &reply) == REDIS_OK, let reply else {
                let isTimeout = context.pointee.err == REDIS_ERR_IO && errno == EAGAIN
                throw isTimeout
                    ? .timedOut(limit)
                    : RedisFailure(kind: .connectionLost, message: text)
            }
            defer { freeReplyObject(reply) }
            return RedisReply(reply.assumingMemoryBound(to: redisReply.self))
        }

        /// Sends the credentials and selects the database.
        func introduce(_ settings: RedisSettings) throws(RedisFailure) {
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

        /// Gives the socket to a link.
        func release() throws(RedisFailure) -> RedisLink {
            guard let context else { throw RedisFailure(kind: .connectionLost, message: "closed") }
            // The context owns its descriptor; the copy belongs to the link.
            let copy = fcntl(context.pointee.fd, F_DUPFD_CLOEXEC, 0)
            end()
            guard copy >= 0, let link = RedisLink(descriptor: copy) else {
                if copy >= 0 { close(copy) }
                throw RedisFailure(
                    kind: .unreachable, message: String(cString: strerror(errno)))
            }
            return link
        }
    }
#endif
