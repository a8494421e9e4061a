import Errand
import ErrandTesting
import Foundation
import Synchronization
import TestSupport
import Testing

/// A server over real connections that permits one range at a time, and asks for a pause.
@Suite(.limited) final class RefusedRangeTests: Sendable {
    private static let content = Data(
        (0..<1_000_000).map { UInt8(truncatingIfNeeded: ($0 &* 31) >> 3) })
    private static let digest = SHA256.hex(content)
    /// The number of bytes after which a response waits for the gate.
    private static let piece = 60_000

    /// The requests of the download that is refused.
    private struct Refusals {
        /// The status of a refusal; `nil` permits all requests.
        var status: Int?
        /// The time of the clock at each request.
        var times: [Duration] = []
    }

    private let folder: URL
    private let server = LoopbackServer()
    private let clock = ManualClock()
    private let gate = Gate()
    private let refusals = Mutex(Refusals())

    init() throws {
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("errand-refused-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let resource = LoopbackResource(Self.content, etag: "\"v1\"")
        server.route("/f.bin") { [weak self, gate] request in
            if let refusal = self?.refusal() { return refusal }
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
        server.route("/other") { _ in LoopbackResponse(body: "[1]") }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// The response to a second request while the first one is in progress.
    private func refusal() -> LoopbackResponse? {
        let status = refusals.withLock { refusals -> Int? in
            guard let status = refusals.status else { return nil }
            refusals.times.append(clock.uptime)
            return refusals.times.count > 1 && !gate.isOpen ? status : nil
        }
        return status.map { LoopbackResponse(status: $0, headers: ["Retry-After": "30"]) }
    }

    private var times: [Duration] { refusals.withLock { $0.times } }

    private var present: Int64 { (try? DownloadPlan.parts(in: folder))?.first?.bytes ?? 0 }

    private func untilPresent(_ bytes: Int64) async throws {
        while present < bytes {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    private func download() -> RequestDescription {
        var description = RequestDescription(endpoint: "Download", url: "\(server.baseURL)/f.bin")
        description.download = .to(folder.appendingPathComponent("f.bin")) {
            $0.sha256 = Self.digest
            ($0.segments, $0.minimumSegmentSize) = (2, 16 << 10)
        }
        // The server sends nothing more until the gate opens.
        description.timeouts = Timeouts(connect: nil, idle: nil)
        return description
    }

    private func agent(_ kind: TransportKind) -> RequestAgent {
        RequestAgent(
            configuration: Configuration(), transport: kind.makeTransport(), store: nil,
            clock: clock)
    }

    /// Receives the first piece of each half of the file.
    private func receivePieces(_ kind: TransportKind) async throws {
        let task = agent(kind).start(download())
        let pieces = Int64(2 * Self.piece)
        try await untilPresent(pieces)
        task.cancel(discardingPart: false)
        await #expect(throws: RequestError.self) { try await task.response() }
        await task.untilEnded()
        #expect(server.requests.count == 2 && present == pieces)
    }

    /// Sends another request; a range that was requested too early would arrive before its response.
    private func roundTrip(_ agent: RequestAgent) async throws {
        let description = RequestDescription(endpoint: "Other", url: "\(server.baseURL)/other")
        let response = try await agent.start(description).response()
        #expect(response.statusCode == 200)
    }

    @Test(arguments: TransportKind.allCases, [429, 503])
    func refusedRangeIsRequestedAfterThePause(kind: TransportKind, status: Int) async throws {
        try await server.start()
        try await receivePieces(kind)
        refusals.withLock { $0.status = status }
        let agent = agent(kind)
        let task = agent.start(download())
        // The second request has been refused, and the first one waits for the gate.
        try await clock.untilSleeping()
        #expect(times == [.zero, .zero])
        let range = try #require(server.requests.last?.header("Range"))
        let start = try #require(Int64(range.dropFirst("bytes=".count).prefix { $0 != "-" }))

        gate.open()
        // The first request receives all bytes before the range that was refused.
        try await untilPresent(start)
        try await roundTrip(agent)
        clock.advance(by: .seconds(29))
        try await roundTrip(agent)
        #expect(times.count == 2 && present == start)

        clock.advance(by: .seconds(1))
        let response = try await task.response()
        #expect(times == [.zero, .zero, .seconds(30)])
        #expect(response.statusCode == 200 && response.headers[.contentRange] == nil)
        let file = try #require(response.downloadedFile)
        #expect(file.bytes == Int64(Self.content.count))
        #expect(file.resumedOffset == Int64(2 * Self.piece))
        #expect(haveSameBytes(try Data(contentsOf: file.file), Self.content))
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(names == ["f.bin"])
        await server.stop()
    }
}
