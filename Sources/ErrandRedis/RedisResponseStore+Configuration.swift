#if Redis
    import ErrandSystem

    extension RedisResponseStore {
        /// The address of a server.
        public enum Address: Sendable, Hashable, CustomStringConvertible {
            /// A host name or an IP address, and a port.
            case host(String, port: Int = 6379)
            /// The path of a Unix socket.
            case unixSocket(String)

            /// The host and the port, or the path.
            public var description: String {
                switch self {
                case .host(let host, let port): "\(host):\(port)"
                case .unixSocket(let path): path
                }
            }
        }

        /// The settings of a store.
        ///
        ///     var settings = RedisResponseStore.Configuration(address: .host("cache.internal"))
        ///     settings.password = password
        ///     let store = try RedisResponseStore(settings)
        public struct Configuration: Sendable, Hashable {
            /// The address.
            ///
            /// Default `127.0.0.1:6379`.
            public var address: Address
            /// The user name (ACL, Redis 6 or later); `nil` for the server's default user.
            ///
            /// It is used only with a ``password``.
            public var username: String?
            /// The password; `nil` if the server requires none.
            public var password: String?
            /// The number of the database.
            ///
            /// Default 0.
            public var database = 0
            /// The beginning of the names of all keys.
            ///
            /// Default `errand:`.
            ///
            /// Stores with different prefixes share a server without sharing entries.
            public var keyPrefix = "errand:"
            /// The settings of TLS.
            ///
            /// Default `nil`: connections do not use TLS.
            ///
            /// TLS needs OpenSSL 1.1.1 or 3 (Debian's `libssl3`) on Linux. Without it, creating the
            /// store throws ``RequestError/Code/unsupported``.
            public var tls: TLS?
            /// The maximum time of each step of making a connection, in the background.
            ///
            /// Default 1 s.
            ///
            /// The steps are the connection itself, the TLS handshake, and each first command.
            public var connectLimit = Duration.seconds(1)
            /// The maximum time that a command may make no progress.
            ///
            /// Default 50 ms.
            ///
            /// A command makes progress when the server accepts its bytes, with each 16 KiB of a
            /// reply, and with each complete reply. After twenty times the limit it ends anyway.
            ///
            /// It is the longest time that a request waits for a server that does not respond. After
            /// that, requests bypass the server until it has responded to a new connection.
            public var commandLimit = Duration.milliseconds(50)
            /// The number of connections for commands.
            ///
            /// Default 2; one more receives notices of changed entries.
            ///
            /// Commands of concurrent requests share a connection. More connections help large
            /// bodies, which otherwise delay the replies after them.
            public var connections = 2
            /// The maximum size of headers and body of one entry, in bytes.
            ///
            /// Default 256 MiB.
            public var maximumEntryBytes = 256 << 20
            /// How long an entry without ``StoredResponse/expiresAt`` is kept.
            ///
            /// Default 7 days.
            public var defaultLifetime = Duration.seconds(7 * 86_400)
            /// How long an entry is kept after ``StoredResponse/expiresAt``.
            ///
            /// Default 1 day.
            ///
            /// An expired entry can be revalidated, or be used without a network.
            public var graceTime = Duration.seconds(86_400)
            /// The maximum size of the entries kept in memory, in bytes; 0 keeps none.
            ///
            /// Default 8 MiB.
            public var maximumMemoryBytes = 8 << 20
            /// How long another process waits for the entry that one process loads.
            ///
            /// Default 2 s.
            ///
            /// After it, the other process loads the response itself.
            public var fetchWait = Duration.seconds(2)
            /// How long a process may load a response before another one may.
            ///
            /// Default 10 s.
            public var fetchLease = Duration.seconds(10)

            /// Creates settings with the defaults.
            ///
            /// - Parameter address: The address. Default `127.0.0.1:6379`.
            public init(address: Address = .host("127.0.0.1")) { self.address = address }

            /// Describes the first invalid value; `nil` if all are valid.
            var fault: String? {
                if case .host(let host, let port) = address,
                    host.isEmpty || !(1...65_535).contains(port)
                {
                    return "address is \(address). Set a host and a port in 1...65535."
                }
                if case .unixSocket(let path) = address, path.isEmpty || path.utf8.count > 107 {
                    return "address is \(path). Set a path of 1 to 107 bytes."
                }
                if let fault = tls?.fault(address) { return fault }
                if username != nil, password == nil {
                    return "username is set without a password. Set both."
                }
                if database < 0 { return "database is \(database). Set zero or more." }
                if !(1...64).contains(connections) {
                    return "connections is \(connections). Set 1...64."
                }
                if maximumEntryBytes < 0 || maximumMemoryBytes < 0 {
                    return "a maximum size is negative. Set zero or more."
                }
                for (name, value) in [
                    ("connectLimit", connectLimit), ("commandLimit", commandLimit),
                    ("defaultLifetime", defaultLifetime), ("fetchLease", fetchLease),
                ] where value <= .zero {
                    return "\(name) is \(value). Set more than zero."
                }
                if graceTime < .zero { return "graceTime is \(graceTime). Set zero or more." }
                if fetchWait < .zero { return "fetchWait is \(fetchWait). Set zero or more." }
                return nil
            }

            /// How long an entry is kept, in milliseconds: at least 1 s and at most 10 years.
            func lifetime(of expiry: Date?, now: Date) -> Int {
                let grace = graceTime.wholeMilliseconds
                guard let expiry else {
                    return min(max(defaultLifetime.wholeMilliseconds, 1000), Self.longest)
                }
                let seconds = min(max(expiry.timeIntervalSince(now), 0), 1e9)
                return min(max(Int(seconds * 1000) + grace, 1000), Self.longest)
            }

            private static let longest = 315_360_000_000
        }
    }

    extension RedisResponseStore.Configuration: CustomReflectable, CustomStringConvertible {
        /// The address and the database.
        public var description: String { "\(address), database \(database)" }
        /// The settings without the password.
        public var customMirror: Mirror {
            Mirror(
                self,
                children: [
                    "address": address, "username": username as Any, "database": database,
                    "keyPrefix": keyPrefix, "connections": connections,
                    "maximumEntryBytes": maximumEntryBytes,
                    "maximumMemoryBytes": maximumMemoryBytes,
                ], displayStyle: .struct)
        }
    }
#endif
