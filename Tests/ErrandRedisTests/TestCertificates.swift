#if Redis && os(Linux)
    import Foundation
    import Synchronization
    import TestSupport

    /// The files of `Scripts/peers/certificates`.
    ///
    /// `Scripts/run-tests` has made them; a plain `swift test` makes them for the first test.
    struct TestCertificates: Sendable {
        private static let made = Task { try await Self.make() }
        private static let ownFolder = Mutex<String?>(nil)

        private let folder: String

        /// The files of this run.
        static func get() async throws -> TestCertificates {
            if let peers = ProcessInfo.processInfo.environment["ERRAND_PEERS"] {
                return TestCertificates(folder: peers + "/certificates")
            }
            return try await made.value
        }

        private static func make() async throws -> TestCertificates {
            let folder = FileManager.default.temporaryDirectory
                .appendingPathComponent("errand-certificates-\(UUID().uuidString)").path
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true)
            ownFolder.withLock { $0 = folder }
            atexit {
                TestCertificates.ownFolder.withLock { folder in
                    if let folder { try? FileManager.default.removeItem(atPath: folder) }
                }
            }
            var root = URL(fileURLWithPath: #filePath)
            for _ in 0..<3 { root.deleteLastPathComponent() }
            let script = root.appendingPathComponent("Scripts/peers/certificates").path
            let (ends, continuation) = AsyncStream.makeStream(of: TestProcess.End.self)
            try TestProcess.start(
                [script, folder], ProcessInfo.processInfo.environment, output: folder + "/output"
            ) { end in
                continuation.yield(end)
                continuation.finish()
            }
            for await end in ends where end != .exit(0) {
                throw RedisServer.Missing(description: "\(script) failed: \(end)")
            }
            return TestCertificates(folder: folder)
        }

        /// The path of a file.
        func path(_ name: String) -> String { "\(folder)/\(name)" }
    }
#endif
