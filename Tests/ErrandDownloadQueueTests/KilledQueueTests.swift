import ErrandCore
import ErrandCurl
import ErrandHTTP
import ErrandTesting
import Foundation
import TestSupport
import Testing

@testable import ErrandDownloadQueue

/// A queue whose processes are killed at random points until the last one completes all downloads.
@Suite(.limited) struct KilledQueueTests {
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

    /// The sizes of the part files.
    private static func parts(in folder: String) -> [Int] {
        (0..<6).map { size(of: "\(folder)/.f\($0).bin.errand-part") }
    }

    private static func finished(in folder: String) -> [Int] {
        (0..<6).map { size(of: "\(folder)/f\($0).bin") }
    }

    /// The number of bytes that each file has, or less while it is finished.
    private static func sizes(in folder: String) -> [Int] {
        // A part file is renamed when it is complete.
        let finished = finished(in: folder)
        return zip(finished, parts(in: folder)).map { $0 > 0 ? $0 : $1 }
    }

    private static func present(in folder: String) -> Int { sizes(in: folder).reduce(0, +) }

    /// Whether an unfinished part is smaller than it was before.
    private static func hasLost(_ before: [Int], in folder: String) -> Bool {
        let now = parts(in: folder)
        // Read later, so that a part that was renamed in between counts as finished.
        let finished = finished(in: folder)
        return before.indices.contains { now[$0] < before[$0] && finished[$0] == 0 }
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
            let parts = KilledQueueTests.parts(in: path)
            let queue = DownloadQueueFixture.queue(
                in: path, KilledQueueTests.limits, transport: kind.makeTransport())
            try await queue.open()
            Task {
                // A queue that has nothing to do is a failure of the test.
                try await queue.untilIdle()
                exit(EXIT_FAILURE)
            }
            // Another signal than the expected one, if a download stalls.
            alarm(600)
            while KilledQueueTests.present(in: path) < count {
                if KilledQueueTests.hasLost(parts, in: path) { exit(EXIT_FAILURE) }
                await Task.yield()
            }
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

    /// Waits until the server has noticed the ends of all connections of the processes that were killed.
    private func untilProcessesAreDisconnected() async throws {
        // The server accepts connections in their order: a response to this request shows that it has accepted all of
        // the processes.
        let agent = RequestAgent(transport: CurlTransport(), store: nil)
        let request = RequestDescription(
            endpoint: "Last", url: "\(fixture.server.baseURL)/missing")
        await #expect(throws: RequestError.self) { try await agent.start(request).response() }
        await agent.shutdown()
        #expect(fixture.server.requests.contains { $0.path == "/missing" })
        try await fixture.server.until { $0.open == 0 }
    }

    /// Each process continues all parts that the one before has left.
    @Test(arguments: TransportKind.allCases)
    func processesKilledAtRandomPointsLoseNothing(kind: TransportKind) async throws {
        try await fixture.server.start()
        try await addDownloads()
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededGenerator(seed: seed)
        let folder = fixture.folder.path
        // The sizes of the part files when each process begins.
        var starts: [[Int]] = []
        var before = 0
        for round in 1...Self.kills {
            let count = before + Int.random(in: 1..<(3 * Self.piece), using: &random)
            starts.append(Self.parts(in: folder))
            await runAndKill(kind, at: count)
            before = Self.present(in: folder)
            #expect(before >= count, "seed \(seed), round \(round)")
        }
        try await untilProcessesAreDisconnected()
        let sent = fixture.server.status.bytesSent
        let earlier = fixture.server.requests.count
        let sizes = Self.sizes(in: folder)
        starts.append(Self.parts(in: folder))
        fixture.gate.open()

        let queue = try await fixture.queue(Self.limits, transport: kind.makeTransport())
        try await queue.untilIdle()
        let files = Self.resources.map { fixture.file($0.name) }
        let states = files.map { DownloadQueue.State.finished($0) }
        #expect(queue.entries.map(\.state) == states, "seed \(seed)")
        await queue.close()
        for (file, resource) in zip(files, Self.resources) {
            let digest = SHA256.hex(try Data(contentsOf: file))
            #expect(digest == SHA256.hex(resource.content), "seed \(seed), \(resource.name)")
        }
        #expect(try fixture.names() == files.map(\.lastPathComponent).sorted(), "seed \(seed)")
        expectRanges(starts, seed: seed)
        // The last process receives only the missing bytes.
        let missing = zip(Self.resources, sizes).reduce(0) { $0 + $1.0.content.count - $1.1 }
        let again = repeated(after: earlier, sizes)
        let heads = Self.resources.count * Self.head
        let added = fixture.server.status.bytesSent - sent
        #expect(added <= Int64(missing + again + heads), "seed \(seed)")
        await fixture.server.stop()
    }

    /// The bytes of small files that the last process downloads again.
    ///
    /// A process may be killed after a file was finished, and before its first progress was stored (decision 41).
    private func repeated(after count: Int, _ sizes: [Int]) -> Int {
        let paths = fixture.server.requests.dropFirst(count).map(\.path)
        return zip(Self.resources, sizes).reduce(0) { sum, file in
            let size = file.0.content.count
            let isRepeated =
                size <= Self.piece && file.1 == size && paths.contains("/" + file.0.name)
            return isRepeated ? sum + size : sum
        }
    }

    /// Checks that each process continued the parts that it found.
    private func expectRanges(_ starts: [[Int]], seed: UInt64) {
        let requests = fixture.server.requests
        for (number, file) in Self.resources.enumerated() {
            let ranges = requests.filter { $0.path == "/" + file.name }.map { $0.header("Range") }
            var allowed = starts.map { Self.range(from: $0[number]) }
            // At most one request of each process, in their order.
            for range in ranges {
                guard let index = allowed.firstIndex(of: range) else {
                    let parts = starts.map { $0[number] }
                    Issue.record("seed \(seed), \(file.name): \(ranges), parts \(parts)")
                    break
                }
                allowed.removeFirst(index + 1)
            }
            #expect(!ranges.isEmpty, "seed \(seed)")
        }
    }
}
