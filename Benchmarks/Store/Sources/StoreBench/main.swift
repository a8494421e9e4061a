import Foundation

// StoreBench costs [ROUNDS]    CPU time of a read and of a replacement, compared with SQLite from C
// StoreBench growth [MAXIMUM]  the same operations, eviction and lists, from 1,000 entries to MAXIMUM

let arguments = CommandLine.arguments
let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("errand-store-bench-\(ProcessInfo.processInfo.processIdentifier)")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: folder) }

let number = arguments.count > 2 ? Int(arguments[2]) : nil
switch arguments.count > 1 ? arguments[1] : "" {
case "costs": try await Costs(folder: folder).run(rounds: number ?? 5)
case "growth": try await Growth(folder: folder).run(maximum: number ?? 1_000_000)
// For a profiler: one kind of operation only.
case "read", "replace":
    try await Costs(folder: folder).repeat(arguments[1], count: number ?? 100_000)
default: print("StoreBench costs [ROUNDS] | growth [MAXIMUM] | read [COUNT] | replace [COUNT]")
}
