import Foundation
import Synchronization

/// Another process of this test program, which runs one test in a role of its own, such as holding a lock until it
/// is killed.
///
/// Use it for a child that waits for its test. An exit test blocks a thread of the cooperative pool until its child
/// ends, so several such children could block all threads that their tests need.
final class TestProcess: Sendable {
    /// The end of a process.
    enum End: Sendable, Equatable {
        case exit(Int32)
        case signal(Int32)
    }

    private static let variable = "ERRAND_TEST_ROLE"
    private static let channelKey = "channel"

    private let process = Process()
    private let folder: URL
    private let reports: Int32
    /// The pipe that a waiting process reads; closing it lets the process exit.
    private let hold: Mutex<Int32>
    private let ends: AsyncStream<End>

    /// Starts a process that runs one test.
    ///
    /// - Parameters:
    ///   - test: The filter that selects the test, such as `SharedFileTests/writeWaits`.
    ///   - role: The values that ``role`` has in the process.
    ///   - launcher: A program that starts the process, such as a script.
    init(running test: String, as role: [String: String], through launcher: URL? = nil) throws {
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("errand-process-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        // Open for both directions, so that opening does not wait for the process; not inherited by it.
        let descriptors = ["reports", "hold"].map { [folder] name -> Int32 in
            let path = folder.appendingPathComponent(name).path
            return mkfifo(path, 0o600) == 0 ? open(path, O_RDWR | O_CLOEXEC) : -1
        }
        reports = descriptors[0]
        hold = Mutex(descriptors[1])
        let (ends, continuation) = AsyncStream.makeStream(of: End.self)
        self.ends = ends
        guard descriptors.allSatisfy({ $0 >= 0 }) else { throw POSIXError(.EIO) }

        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let arguments = ["--testing-library", "swift-testing", "--filter", test]
        process.executableURL = launcher ?? URL(fileURLWithPath: program)
        process.arguments = launcher == nil ? arguments : [program] + arguments
        var values = role
        values[Self.channelKey] = folder.path
        process.environment = ProcessInfo.processInfo.environment.merging([
            Self.variable: String(decoding: try JSONEncoder().encode(values), as: UTF8.self),
            // A process that is killed cannot delete its temporary files.
            "TMPDIR": folder.path,
        ]) { $1 }
        let output = folder.appendingPathComponent("output")
        try Data().write(to: output)
        let file = try FileHandle(forWritingTo: output)
        process.standardOutput = file
        process.standardError = file
        process.terminationHandler = { [reports] process in
            let status = process.terminationStatus
            continuation.yield(
                process.terminationReason == .uncaughtSignal ? .signal(status) : .exit(status))
            continuation.finish()
            _ = Self.write("\n", to: reports)
        }
        try process.run()
    }

    deinit {
        release()
        close(reports)
        try? FileManager.default.removeItem(at: folder)
    }

    /// The standard output and standard error of the process so far.
    var output: String {
        let file = folder.appendingPathComponent("output")
        return (try? String(contentsOf: file, encoding: .utf8)) ?? ""
    }

    /// Waits until the process waits to be killed; false if it has ended.
    func isReady() async -> Bool {
        await withCheckedContinuation { continuation in
            // Not a thread of the cooperative pool, because reading blocks it.
            Thread.detachNewThread { [self] in
                var byte: UInt8 = 0
                continuation.resume(returning: read(reports, &byte, 1) == 1 && byte != 10)
            }
        }
    }

    /// Kills the process and returns its end.
    func killed() async -> End? {
        kill(process.processIdentifier, SIGKILL)
        return await ended()
    }

    /// Waits for the end of the process; `nil` if the calling task is cancelled, which ends the process.
    func ended() async -> End? {
        for await end in ends { return end }
        kill(process.processIdentifier, SIGKILL)
        return nil
    }

    /// Lets a process that waits exit with a failure.
    private func release() {
        hold.withLock { hold in
            if hold >= 0 { close(hold) }
            hold = -1
        }
    }

    // MARK: - In the process

    /// The values that the test has given to this process; `nil` in the process that runs all tests.
    static let role: [String: String]? = ProcessInfo.processInfo.environment[variable]
        .flatMap { try? JSONDecoder().decode([String: String].self, from: Data($0.utf8)) }

    /// Reports that the process is ready, and waits until it is killed; it exits if the test ends before.
    static func waitToBeKilled() -> Never {
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
