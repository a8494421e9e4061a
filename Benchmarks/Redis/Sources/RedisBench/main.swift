import ErrandRedis
import Foundation

// RedisBench                     starts redis-server and runs all measurements
// RedisBench worker SOCKET BYTES one process of a fleet, with this size of the memory tier

let arguments = CommandLine.arguments
if arguments.count == 4, arguments[1] == "worker" {
    let fleet = try Fleet(socket: arguments[2], memoryBytes: Int(arguments[3]) ?? 0)
    let result = try await fleet.run()
    print(String(decoding: try JSONEncoder().encode(result), as: UTF8.self))
    exit(0)
}

let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("errand-redis-bench-\(ProcessInfo.processInfo.processIdentifier)")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
let socket = folder.appendingPathComponent("redis.sock").path
let server = Process()
server.executableURL = URL(fileURLWithPath: "/usr/bin/env")
server.arguments = [
    "redis-server", "--port", "0", "--unixsocket", socket, "--save", "", "--appendonly", "no",
    "--dir", folder.path,
]
server.standardOutput = FileHandle.nullDevice
try server.run()
defer {
    server.terminate()
    try? FileManager.default.removeItem(at: folder)
}
while !FileManager.default.fileExists(atPath: socket) { usleep(10_000) }

try await SingleReads(socket: socket).run()

print("processes  memory  requests  origin loads  hit rate  p50 µs  p99 µs")
for memoryBytes in [8 << 20, 0] {
    for count in [1, 4, 16] {
        let cleaner = try RedisResponseStore(.init(address: .unixSocket(socket)))
        try await cleaner.removeAll(where: nil)
        let workers = try (0..<count).map { _ in
            let worker = Process()
            worker.executableURL = URL(fileURLWithPath: arguments[0])
            worker.arguments = ["worker", socket, "\(memoryBytes)"]
            worker.standardOutput = Pipe()
            try worker.run()
            return worker
        }
        var loads = 0
        var times: [Int] = []
        for worker in workers {
            guard let pipe = worker.standardOutput as? Pipe else { continue }
            let data = pipe.fileHandleForReading.readDataToEndOfFile()
            let result = try JSONDecoder().decode(Fleet.Result.self, from: data)
            loads += result.loads
            times += result.times
        }
        times.sort()
        print(
            String(
                format: "%9d %7d %9d %13d %8.2f%% %7d %7d", count, memoryBytes >> 20, times.count,
                loads, 100 - 100 * Double(loads) / Double(times.count), times[times.count / 2],
                times[times.count * 99 / 100]))
    }
}
