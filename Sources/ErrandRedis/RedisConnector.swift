#if Redis
    import ErrandHTTP
    import ErrandSystem

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
        /// The settings of TLS, and the library that performs it; `nil` without TLS.
        var tls: (settings: RedisResponseStore.TLS, openSSL: TLSFunctions)?

        /// - Parameter openSSL: The library for TLS; not `nil` if the configuration requires TLS.
        init(_ configuration: RedisResponseStore.Configuration, openSSL: TLSFunctions?) {
            address = configuration.address
            (username, password) = (configuration.username, configuration.password)
            (database, connections) = (configuration.database, configuration.connections)
            (connectLimit, commandLimit) = (configuration.connectLimit, configuration.commandLimit)
            wantsInvalidation = configuration.maximumMemoryBytes > 0
            if let settings = configuration.tls, let openSSL { tls = (settings, openSSL) }
        }

        /// The name that the server's certificate must contain.
        var serverName: String {
            if let name = tls?.settings.serverName { return name }
            if case .host(let host, _) = address { return host }
            return ""
        }
    }

    /// Connects and introduces itself, blocking, on a thread of its own.
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
            let context = try makeContext()
            var redirect: Int?
            if settings.wantsInvalidation {
                do throws(RedisFailure) {
                    let (link, id) = try connectInvalidation(context)
                    session.invalidation = link
                    redirect = id
                } catch {
                    guard error.kind == .refused else { throw error }
                    session.problems.append(Self.noTracking(error))
                }
            }
            for number in 0..<settings.connections {
                let connection = try NewConnection(settings, context)
                try connection.introduce(settings)
                if let redirect {
                    let reply = try connection.perform(Self.tracking(redirect))
                    if case .error(let message) = reply {
                        session.invalidation = nil
                        session.problems.append(Self.noTracking(.refused(message)))
                    }
                }
                if number == 0 { try prepare(&session, connection) }
                session.links.append(connection.link)
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
            _ session: inout Session, _ connection: NewConnection
        ) throws(RedisFailure) {
            for script in StoreScript.all {
                let reply = try connection.perform(
                    RedisCommand("SCRIPT", "LOAD", .text(script.source)))
                if case .error(let message) = reply { throw .refused(message) }
                session.scripts.append(reply.text ?? "")
            }
            let memory = try connection.perform(RedisCommand("INFO", "memory")).text
            // Without the information, the index is not trusted.
            session.evictsIndex = memory?.contains(bytes: "maxmemory_policy:allkeys") ?? true
        }

        /// Makes the connection for notices; returns it with its number on the server.
        func connectInvalidation() throws(RedisFailure) -> (RedisLink, Int) {
            try connectInvalidation(makeContext())
        }

        private func connectInvalidation(
            _ context: TLSContext?
        ) throws(RedisFailure) -> (RedisLink, Int) {
            let connection = try NewConnection(settings, context)
            try connection.introduce(settings)
            let id = try connection.perform(RedisCommand("CLIENT", "ID"))
            guard let number = id.number else { throw .refused(id.text ?? "no client id") }
            let reply = try connection.perform(RedisCommand("SUBSCRIBE", "__redis__:invalidate"))
            if case .error(let message) = reply { throw .refused(message) }
            return (connection.link, number)
        }

        /// Reads the files of TLS; `nil` without TLS.
        private func makeContext() throws(RedisFailure) -> TLSContext? {
            guard let (tls, openSSL) = settings.tls else { return nil }
            do throws(TLSContext.Fault) {
                return try TLSContext(tls, openSSL)
            } catch { throw RedisFailure(kind: .files, message: error.message) }
        }
    }
#endif
