#if Redis && os(Linux)
    import ErrandCore
    import Foundation
    import HTTPTypes
    import Synchronization
    import TestSupport

    @testable import ErrandRedis

    /// A Redis server of one test, on a Unix socket.
    final class RedisServer: Sendable {
        struct Missing: Error, CustomStringConvertible {
            let description: String
        }

        private let folder: URL
        private let arguments: [String]
        private let process: SharedProcess
        let socket: String

        /// Starts a server and waits until it replies.
        ///
        /// - Parameter arguments: Further arguments of `redis-server`.
        convenience init(_ arguments: String...) async throws { try await self.init(arguments) }

        init(_ arguments: [String]) async throws {
            folder = FileManager.default.temporaryDirectory
                .appendingPathComponent("errand-redis-\(UUID().uuidString.prefix(8))")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            socket = folder.appendingPathComponent("redis.sock").path
            self.arguments = arguments
            process = SharedProcess()
            try await start()
        }

        deinit {
            process.kill()
            try? FileManager.default.removeItem(at: folder)
        }

        /// Starts the server again, empty.
        func start() async throws {
            try? FileManager.default.removeItem(atPath: socket)
            let program = try Self.program()
            try process.start(
                [
                    program, "--port", "0", "--unixsocket", socket, "--save", "", "--appendonly",
                    "no", "--dir", folder.path, "--daemonize", "no", "--databases", "4",
                    "--enable-debug-command", "yes",
                ] + arguments, output: folder.appendingPathComponent("output").path)
            // The server has no way to announce that it listens, so it is asked repeatedly.
            for _ in 0..<1000 {
                if canConnect() { return }
                try await Task.sleep(for: .milliseconds(10))
            }
            throw Missing(description: "\(program) did not start: see its output in \(folder.path)")
        }

        private func canConnect() -> Bool {
            var settings = configuration
            settings.connectLimit = .seconds(5)
            let connector = RedisConnector(settings: RedisSettings(settings, openSSL: nil))
            do throws(RedisFailure) {
                _ = try connector.connectInvalidation()
                return true
            } catch { return [.authentication, .refused].contains(error.kind) }
        }

        /// Kills the server and waits for its end.
        func kill() async { await process.killed() }

        private static func program() throws -> String {
            let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
            for folder in folders.map(String.init) + ["/usr/bin", "/usr/local/bin"] {
                for name in ["redis-server", "valkey-server"] {
                    let path = folder + "/" + name
                    if FileManager.default.isExecutableFile(atPath: path) { return path }
                }
            }
            throw Missing(description: "redis-server is not installed; run Scripts/setup --tests")
        }

        /// Settings with long time limits, since the machine of a test may be slow.
        var configuration: RedisResponseStore.Configuration {
            var configuration = RedisResponseStore.Configuration(address: .unixSocket(socket))
            configuration.commandLimit = .seconds(20)
            configuration.connectLimit = .seconds(20)
            return configuration
        }

        /// A store with changed settings.
        func store(
            _ change: (inout RedisResponseStore.Configuration) -> Void = { _ in }
        ) throws -> RedisResponseStore {
            var configuration = configuration
            change(&configuration)
            return try RedisResponseStore(configuration)
        }

        /// A store that caches nothing in memory.
        func storeWithoutMemory() throws -> RedisResponseStore {
            try store { $0.maximumMemoryBytes = 0 }
        }

        /// A connection for commands of the test.
        func console() -> Console { Console(configuration) }

        final class Console: Sendable {
            private let client: RedisClient

            init(_ configuration: RedisResponseStore.Configuration) {
                var settings = RedisSettings(configuration, openSSL: nil)
                settings.wantsInvalidation = false
                settings.connections = 1
                client = RedisClient(
                    settings: settings,
                    handlers: RedisClient.Handlers(
                        problem: { _ in }, invalidated: { _ in }, heartbeat: { _ in },
                        needsRecovery: { false }, recover: {}))
            }

            @discardableResult
            func run(_ parts: RedisCommand.Part...) async throws -> RedisReply {
                try await client.perform(RedisCommand(parts))
            }
        }
    }

    /// The process of a server, which can be started again.
    private final class SharedProcess: Sendable {
        private struct State {
            var child: TestProcess.Child?
            var ends: AsyncStream<Void>?
        }
        private let state = Mutex(State())

        func start(_ command: [String], output: String) throws {
            let (ends, continuation) = AsyncStream.makeStream(of: Void.self)
            let child = try TestProcess.start(
                command, ProcessInfo.processInfo.environment, output: output
            ) { _ in continuation.finish() }
            state.withLock { $0 = State(child: child, ends: ends) }
        }

        func kill() { state.withLock { $0.child?.kill() } }

        func killed() async {
            let ends = state.withLock { state in
                state.child?.kill()
                return state.ends
            }
            if let ends { for await _ in ends {} }
        }
    }

    func key(_ name: String) -> CacheKey { CacheKey(canonical: "GET\nhttp://test/\(name)\n\n\n\n") }

    func entry(
        _ text: String, tag: Int = 0, identity: String? = nil, url: String? = nil,
        expiresAt: Date? = nil
    ) -> StoredResponse {
        StoredResponse(
            status: 200, headers: [.contentType: "text/plain"], body: Data(text.utf8),
            url: url ?? "http://test/\(text.prefix(20))",
            storedAt: Date(timeIntervalSince1970: 1_700_000_000.125),
            identity: identity, tag: tag, expiresAt: expiresAt)
    }

    /// A body whose bytes depend on their position.
    func bytes(_ count: Int) -> Data {
        Data((0..<count).map { UInt8(truncatingIfNeeded: $0 ^ ($0 >> 8) ^ ($0 >> 16)) })
    }

    /// Waits until a condition holds; false after ten seconds.
    ///
    /// For effects on another connection, which nothing announces to the test.
    func eventually(_ condition: () async throws -> Bool) async throws -> Bool {
        for _ in 0..<1000 {
            if try await condition() { return true }
            try await Task.sleep(for: .milliseconds(10))
        }
        return false
    }

    /// The error of an operation of a store; `nil` if it succeeded.
    func failure(_ work: () async throws -> Void) async -> RequestError? {
        do {
            try await work()
            return nil
        } catch { return error as? RequestError }
    }

    /// The problems of a store whose server was killed; empty if there is none after ten seconds.
    ///
    /// A command that loses its connection fails before the attempt to connect again, whose failure is the problem.
    func problemsOfOutage(_ store: RedisResponseStore) async throws -> [RequestError] {
        var problems: [RequestError] = []
        var hasFailed = false
        _ = try await eventually {
            if await failure({ _ = try await store.entry(for: key("a")) }) != nil {
                hasFailed = true
            }
            problems += store.takeProblems()
            return hasFailed && !problems.isEmpty
        }
        return problems
    }
#endif
