#if os(Linux)
    package import Foundation
    import Synchronization

    /// Another process of this test program, which runs one test in a role of its own, such as holding a lock until it
    /// is killed.
    ///
    /// Use it for a child that waits for its test. An exit test blocks a thread of the cooperative pool until its child
    /// ends, so several such children could block all threads that their tests need.
    package final class TestProcess: Sendable {
        /// The end of a process.
        package enum End: Sendable, Equatable {
            case exit(Int32)
            case signal(Int32)
        }

        private static let variable = "ERRAND_TEST_ROLE"
        private static let channelKey = "channel"

        private let child: Child
        private let folder: URL
        /// The pipe that receives a report of the process, and a line feed after its end.
        private let reports: Descriptor
        /// The pipe that a waiting process reads; closing it lets the process exit.
        private let hold: Descriptor
        private let ends: AsyncStream<End>

        /// Starts a process that runs one test.
        ///
        /// - Parameters:
        ///   - test: The filter that selects the test, such as `SharedFileTests/writeWaits`.
        ///   - role: The values that ``role`` has in the process.
        ///   - launcher: A program that starts the process, such as a script.
        package init(running test: String, as role: [String: String], through launcher: URL? = nil)
            throws
        {
            folder = FileManager.default.temporaryDirectory
                .appendingPathComponent("errand-process-\(UUID().uuidString)", isDirectory: true)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            reports = try Descriptor(ofPipe: folder.appendingPathComponent("reports").path)
            hold = try Descriptor(ofPipe: folder.appendingPathComponent("hold").path)
            let (ends, continuation) = AsyncStream.makeStream(of: End.self)
            self.ends = ends

            let program = try FileManager.default.destinationOfSymbolicLink(
                atPath: "/proc/self/exe")
            let arguments = ["--testing-library", "swift-testing", "--filter", test]
            var values = role
            values[Self.channelKey] = folder.path
            let environment = ProcessInfo.processInfo.environment.merging([
                Self.variable: String(decoding: try JSONEncoder().encode(values), as: UTF8.self),
                // A process that is killed cannot delete its temporary files.
                "TMPDIR": folder.path,
            ]) { $1 }
            child = try Self.start(
                (launcher.map { [$0.path] } ?? []) + [program] + arguments, environment,
                output: folder.appendingPathComponent("output").path
            ) { [reports] end in
                _ = Self.write("\n", to: reports.number)
                continuation.yield(end)
                continuation.finish()
            }
        }

        /// Starts a program; the closure is called with its end, on a thread of its own.
        ///
        /// `Process` of Foundation needs the run loop of its thread, and leaks on other threads.
        ///
        /// - Parameters:
        ///   - command: The path of the program, and its arguments.
        ///   - environment: The whole environment of the process.
        ///   - output: The file for its standard output and standard error.
        @discardableResult
        package static func start(
            _ command: [String], _ environment: [String: String], output: String,
            onEnd: @escaping @Sendable (End) -> Void
        ) throws -> Child {
            var actions = posix_spawn_file_actions_t()
            posix_spawn_file_actions_init(&actions)
            defer { posix_spawn_file_actions_destroy(&actions) }
            posix_spawn_file_actions_addopen(
                &actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
            posix_spawn_file_actions_adddup2(&actions, 1, 2)
            // Another test's file or lock must not stay open in the process.
            let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
            for descriptor in open.compactMap({ Int32($0) }) where descriptor > 2 {
                posix_spawn_file_actions_addclose(&actions, descriptor)
            }
            let arguments = command.map { strdup($0) } + [nil]
            let variables = environment.map { strdup("\($0)=\($1)") } + [nil]
            defer { for text in arguments + variables { free(text) } }
            var identifier: pid_t = 0
            let result = posix_spawn(
                &identifier, command[0], &actions, nil, arguments, variables)
            guard result == 0 else { throw POSIXError(POSIXErrorCode(rawValue: result) ?? .EIO) }
            let child = Child(identifier)
            Thread.detachNewThread { onEnd(child.wait()) }
            return child
        }

        deinit { try? FileManager.default.removeItem(at: folder) }

        /// The standard output and standard error of the process so far.
        package var output: String {
            let file = folder.appendingPathComponent("output")
            return (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        }

        /// Waits until the process waits to be killed; false if it has ended.
        package func isReady() async -> Bool {
            await withCheckedContinuation { continuation in
                // Not a thread of the cooperative pool, because reading blocks it.
                Thread.detachNewThread { [self] in
                    var byte: UInt8 = 0
                    let count = read(reports.number, &byte, 1)
                    continuation.resume(returning: count == 1 && byte != 10)
                }
            }
        }

        /// Kills the process and returns its end.
        package func killed() async -> End? {
            child.kill()
            return await ended()
        }

        /// Waits for the end of the process; `nil` if the calling task is cancelled, which ends the process.
        package func ended() async -> End? {
            for await end in ends { return end }
            child.kill()
            return nil
        }

        /// A child process, which is signalled only while its identifier is its own.
        package final class Child: Sendable {
            private let identifier: pid_t
            private let isReaped = Mutex(false)

            fileprivate init(_ identifier: pid_t) { self.identifier = identifier }

            /// Kills the process unless it has been reaped.
            package func kill() {
                isReaped.withLock { if !$0 { _ = Foundation.kill(identifier, SIGKILL) } }
            }

            /// Waits for the end of the process and reaps it.
            fileprivate func wait() -> End {
                var info = siginfo_t()
                // Not reaped yet: a new process could get the identifier before `isReaped` is set.
                while waitid(P_PID, id_t(identifier), &info, WEXITED | WNOWAIT) < 0,
                    errno == EINTR
                {}
                return isReaped.withLock { isReaped in
                    var status: Int32 = 0
                    while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
                    isReaped = true
                    let signal = status & 0x7F
                    return signal == 0 ? .exit(status >> 8 & 0xFF) : .signal(signal)
                }
            }
        }

        /// An open pipe, closed once its last user has released it.
        private final class Descriptor: Sendable {
            let number: Int32

            /// Creates a pipe, and opens it for both directions, so that opening does not wait for
            /// the process.
            init(ofPipe path: String) throws {
                guard mkfifo(path, 0o600) == 0 else { throw POSIXError(.EIO) }
                // Not inherited by the process.
                number = open(path, O_RDWR | O_CLOEXEC)
                guard number >= 0 else { throw POSIXError(.EIO) }
            }

            deinit { close(number) }
        }

        // MARK: - In the process

        /// The values that the test has given to this process; `nil` in the process that runs all tests.
        package static let role: [String: String]? = ProcessInfo.processInfo.environment[variable]
            .flatMap { try? JSONDecoder().decode([String: String].self, from: Data($0.utf8)) }

        /// Reports that the process is ready, and waits until it is killed; it exits if the test ends before.
        package static func waitToBeKilled() -> Never {
            guard let folder = role?[channelKey] else { exit(EXIT_FAILURE) }
            let reports = open(folder + "/reports", O_WRONLY | O_CLOEXEC)
            // Without a writer, a blocking open would wait for one.
            let hold = open(folder + "/hold", O_RDONLY | O_NONBLOCK | O_CLOEXEC)
            guard reports >= 0, hold >= 0, fcntl(hold, F_SETFL, 0) == 0, write("r", to: reports)
            else { exit(EXIT_FAILURE) }
            var byte: UInt8 = 0
            _ = read(hold, &byte, 1)
            exit(EXIT_FAILURE)
        }

        private static func write(_ text: String, to descriptor: Int32) -> Bool {
            let bytes = Array(text.utf8)
            return Foundation.write(descriptor, bytes, bytes.count) == bytes.count
        }
    }
#endif
