import Foundation
import Synchronization

/// Starts `Scripts/peers/run` unless it is already running.
enum PeerLauncher {
    /// The script's standard input.
    ///
    /// The script stops its servers when this process ends and closes it.
    private static let standardInput = Mutex<FileHandle?>(nil)

    private static let root = (0..<3).reduce(URL(fileURLWithPath: #filePath)) { path, _ in
        path.deletingLastPathComponent()
    }

    /// The interpreter with the packages of the servers.
    static let python = root.appendingPathComponent(".build/peers/bin/python")

    /// A script of `Scripts/peers`.
    static func script(_ name: String) -> URL {
        root.appendingPathComponent("Scripts/peers/\(name)")
    }

    /// The folder with the servers' ports, certificates and logs.
    static func folder() throws -> String {
        if let folder = ProcessInfo.processInfo.environment["ERRAND_PEERS"] { return folder }
        let process = Process()
        process.executableURL = root.appendingPathComponent("Scripts/peers/run")
        let input = Pipe()
        let output = Pipe()
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        standardInput.withLock { $0 = input.fileHandleForWriting }
        var text = Data()
        while !text.contains(0x0A) {
            let more = output.fileHandleForReading.availableData
            if more.isEmpty {
                throw Peers.Missing(
                    description:
                        "Scripts/peers/run could not start its servers; run Scripts/setup --tests")
            }
            text.append(more)
        }
        let folder = String(decoding: text.prefix { $0 != 0x0A }, as: UTF8.self)
        // Inherited by the child processes of tests.
        setenv("ERRAND_PEERS", folder, 1)
        return folder
    }
}
