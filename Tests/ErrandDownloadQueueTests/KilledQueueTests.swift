import ErrandCore
import ErrandHTTP
import ErrandTesting
import Foundation
import Testing

@testable import ErrandDownloadQueue

/// A queue whose processes are killed at random points until the last one completes all downloads.
@Suite(.timeLimit(.minutes(15))) struct KilledQueueTests {
    /// A file of the server.
    private struct Resource: Sendable {
        let name: String
        let content: Data

        init(_ number: Int, size: Int) {
            name = "f\(number)"
            content = Data((0..<size).map { UInt8(truncatingIfNeeded: ($0 &* 31 &+ number) >> 3) })
        }
    }

    /// The number of processes that are killed; more of them every night.
    private static let kills =
        ProcessInfo.processInfo.environment["ERRAND_KILLS"].flatMap(Int.init) ?? 5
    /// The number of bytes after which each response waits for the gate.
    private static let piece = 64 << 10
    /// More than the bytes of a response head.
    private static let head = 1 << 10
    private static let limits = DownloadQueue.Limits(total: 3, perHost: 3)
    /// Each second file is complete after one piece, so that other downloads start in its place.
    private static let resources: [Resource] = (0..<6).map { number in
        let isSmall = number % 2 == 0
        return Resource(
            number, size: isSmall ? piece / 2 + number : (kills + 2) * piece + 999 * number)
    }

    private let fixture: DownloadQueueFixture

    init() throws {
        fixture = try DownloadQueueFixture()
        for file in Self.resources {
            let resource = LoopbackResource(file.content, etag: "\"v1\"")
            fixture.server.route("/" + file.name) { [gate = fixture.gate] request in
                var response = resource.response(to: request)
                response.steps = response.steps.flatMap { step -> [LoopbackResponse.Step] in
                    guard case .body(let bytes) = step, bytes.count > Self.piece else {
                        return [step]
                    }
                    return [
                        .body(bytes.prefix(Self.piece)), .hold(gate),
                        .body(Data(bytes.dropFirst(Self.piece))),
                    ]
                }
                return response
            }
        }
    }

    private static func size(of path: String) -> Int {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.size] as? NSNumber)?.intValue ?? 0
    }

    /// The number of present bytes of all files in a folder, or less while a file is finished.
    private static func present(in folder: String) -> Int {
        (0..<6).reduce(0) { sum, number in
            // A part file is renamed when it is complete.
            let finished = size(of: "\(folder)/f\(number).bin")
            return sum + (finished > 0 ? finished : part(number, in: folder))
        }
    }

    /// The size of the part file.
    private static func part(_ number: Int, in folder: String) -> Int {
        size(of: "\(folder)/.f\(number).bin.errand-part")
    }

    /// The `Range` of a request that continues a part file.
    private static func range(from offset: Int) -> String? {
        offset > 0 ? "bytes=\(offset)-" : nil
    }

    /// Continues the queue in a child process, and kills it when this number of bytes is present.
    private func runAndKill(_ kind: TransportKind, at count: Int) async {
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [
                path = fixture.folder.path as String, kind = kind as TransportKind,
                count = count as Int,
            ] in
            let queue = DownloadQueueFixture.queue(
                in: path, KilledQueueTests.limits, transport: kind.makeTransport())
            try await queue.open()
            Task {
                // A queue that has nothing to do is a failure of the test.
                await queue.untilIdle()
                exit(EXIT_FAILURE)
            }
            while KilledQueueTests.present(in: path) < count { await Task.yield() }
            kill(getpid(), SIGKILL)
        }
    }

    private func addDownloads() async throws {
        let queue = DownloadQueueFixture.queue(in: fixture.folder.path, Self.limits)
        queue.isPaused = true
        try await queue.open()
        try await queue.add(
            Self.resources.map { file in
                var download = fixture.download(file.name)
                download.expectedDigests = [.sha256(SHA256.hex(file.content))]
                return download
            })
        await queue.close()
    }

    /// Each process continues all parts that the one before has left.
    @Test(arguments: TransportKind.allCases)
    func processesKilledAtRandomPointsLoseNothing(kind: TransportKind) async throws {
        try await fixture.server.start()
        try await addDownloads()
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededGenerator(seed: seed)
        let folder = fixture.folder.path
        // The offsets at which the requests for each file may begin.
        var offsets = Self.resources.map { _ in Set([0]) }
        var before = 0
        for round in 1...Self.kills {
            let count = before + Int.random(in: 1..<(3 * Self.piece), using: &random)
            await runAndKill(kind, at: count)
            before = Self.present(in: folder)
            #expect(before >= count, "seed \(seed), round \(round)")
            for number in offsets.indices {
                offsets[number].insert(Self.part(number, in: folder))
            }
        }
        fixture.gate.open()
        // The responses to the processes that were killed end as soon as the server notices that.
        try await fixture.server.until { $0.open == 0 }
        let parts = offsets.indices.map { Self.part($0, in: folder) }

        let queue = try await fixture.queue(Self.limits, transport: kind.makeTransport())
        await queue.untilIdle()
        let files = Self.resources.map { fixture.file($0.name) }
        let states = files.map { DownloadQueue.State.finished($0) }
        #expect(queue.entries.map(\.state) == states, "seed \(seed)")
        await queue.close()
        for (file, resource) in zip(files, Self.resources) {
            let digest = SHA256.hex(try Data(contentsOf: file))
            #expect(digest == SHA256.hex(resource.content), "seed \(seed), \(resource.name)")
        }
        #expect(try fixture.names() == files.map(\.lastPathComponent).sorted(), "seed \(seed)")
        expectRequests(offsets, parts, "seed \(seed)")
        await fixture.server.stop()
    }

    /// Checks that requests continued the parts, and that the server has sent few bytes twice.
    ///
    /// - Parameters:
    ///   - offsets: The sizes of each part file after the kills, and 0.
    ///   - parts: The sizes of the part files after the last kill.
    private func expectRequests(_ offsets: [Set<Int>], _ parts: [Int], _ comment: Comment) {
        let requests = fixture.server.requests
        for (number, file) in Self.resources.enumerated() {
            let ranges = requests.filter { $0.path == "/" + file.name }.map { $0.header("Range") }
            let expected = Set(offsets[number].map { Self.range(from: $0) })
            #expect(Set(ranges).isSubset(of: expected), comment)
            if parts[number] > 0 {
                #expect(ranges.last == Self.range(from: parts[number]), comment)
            }
        }
        // Each further request for a file follows an interruption, which loses at most one piece.
        let size = Self.resources.map(\.content.count).reduce(0, +)
        let interruptions = requests.count - Self.resources.count
        let limit = size + interruptions * Self.piece + requests.count * Self.head
        #expect(fixture.server.status.bytesSent <= Int64(limit), comment)
    }
}
