import ErrandCore
import ErrandCurl
import ErrandTesting
import ErrandTransport
import Foundation

@testable import ErrandDownloadQueue

/// A folder for a queue and its files, and a server whose responses stop until a gate is open.
final class DownloadQueueFixture: Sendable {
    static let content = bytes(200_000)
    /// The number of bytes of each response before the gate.
    static let piece = 60_000

    let folder: URL
    let server = LoopbackServer()
    /// While it is closed, each response stops after one piece.
    let gate = Gate()

    init(content: Data = DownloadQueueFixture.content) throws {
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("errand-queue-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let resource = LoopbackResource(content, etag: "\"v1\"")
        for name in ["a", "b", "c"] {
            server.route("/" + name) { [gate] request in
                var response = resource.response(to: request)
                response.steps = response.steps.flatMap { step -> [LoopbackResponse.Step] in
                    guard case .body(let bytes) = step else { return [step] }
                    return [
                        .body(bytes.prefix(Self.piece)), .hold(gate),
                        .body(Data(bytes.dropFirst(Self.piece))),
                    ]
                }
                return response
            }
        }
        server.route("/missing") { _ in LoopbackResponse(status: 404) }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    static func bytes(_ count: Int) -> Data {
        Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) })
    }

    var database: String { Self.database(in: folder.path) }

    private static func database(in folder: String) -> String { folder + "/queue.sqlite" }

    /// A queue that is not open, for a child process too.
    static func queue(
        in folder: String, _ limits: DownloadQueue.Limits = .init(),
        transport: any Transport = CurlTransport(), reachability: (any Reachability)? = nil,
        clock: any RequestClock = SystemClock()
    ) -> DownloadQueue {
        var configuration = Configuration()
        configuration.timeouts = Timeouts(connect: nil, idle: nil)
        configuration.reachability = reachability
        let agent = RequestAgent(
            configuration: configuration, transport: transport, store: nil, clock: clock)
        return DownloadQueue(path: database(in: folder), agent: agent, limits: limits)
    }

    func queue(
        _ limits: DownloadQueue.Limits = .init(), transport: any Transport = CurlTransport(),
        reachability: (any Reachability)? = nil, clock: any RequestClock = SystemClock()
    ) async throws -> DownloadQueue {
        let queue = Self.queue(
            in: folder.path, limits, transport: transport, reachability: reachability, clock: clock)
        try await queue.open()
        return queue
    }

    /// The destination of a download.
    func file(_ name: String = "a") -> URL { folder.appendingPathComponent(name + ".bin") }

    func download(_ name: String = "a") -> DownloadQueue.Download {
        .init("\(server.baseURL)/\(raw: name)", to: file(name))
    }

    /// Whether the files of these downloads have the content.
    func haveContent(
        _ names: [String], _ content: Data = DownloadQueueFixture.content
    ) throws -> Bool {
        try names.allSatisfy { haveSameBytes(try Data(contentsOf: file($0)), content) }
    }

    func until(_ queue: DownloadQueue, _ condition: ([DownloadQueue.Entry]) -> Bool) async {
        for await entries in queue.updates where condition(entries) { return }
    }

    /// Waits until no download of the queue can run, while the time of the clock advances.
    func untilIdle(_ queue: DownloadQueue, advancing clock: ManualClock) async {
        await advancing(clock) { try? await queue.untilIdle() }
    }

    /// Advances the time of a clock while something sleeps, until the body returns.
    func advancing(_ clock: ManualClock, until body: () async -> Void) async {
        let advancing = Task {
            while !Task.isCancelled {
                try await clock.untilSleeping()
                clock.advance(by: .milliseconds(500))
                await Task.yield()
            }
        }
        await body()
        advancing.cancel()
    }

    /// The names of the files in the folder, without those of the database.
    func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { !$0.hasPrefix("queue.sqlite") }.sorted()
    }
}
