import Errand
import ErrandTesting
import ErrandTransport
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// Streamed responses whose bodies are stored and read in parts.
@Suite(.limited) struct LargeStreamCacheTests {
    enum Mode: String, CaseIterable, Codable, Sendable { case time, http }

    private let transport = ScriptedTransport()
    private let clock = ManualClock()
    private let events = EventRecorder()
    private let directory = TemporaryDirectory()
    private let agent: RequestAgent

    init() throws {
        try FileManager.default.createDirectory(
            at: directory.url, withIntermediateDirectories: true)
        var configuration = Configuration(baseURL: "https://api.example.com/")
        configuration.eventListeners = [events]
        // A body that is larger than this could not be stored through memory.
        configuration.transportOptions.maximumBytesInMemory = 1 << 20
        agent = RequestAgent(
            configuration: configuration, transport: transport,
            store: SQLiteResponseStore(path: directory.path, maximumMemoryBytes: 0), clock: clock)
    }

    /// A directory that is removed with this object.
    private final class TemporaryDirectory: Sendable {
        let url = FileManager.default.temporaryDirectory
            .appendingPathComponent("errand-\(UUID().uuidString)")
        var path: String { url.appendingPathComponent("a.sqlite").path }

        deinit { try? FileManager.default.removeItem(at: url) }
    }

    private static let count = 3 * piece.count + 17
    private static let piece = Data((0..<1_000_003).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    private static let body = (piece + piece + piece + piece).prefix(count)

    private func script(_ headers: HTTPFields = [.cacheControl: "max-age=60", .eTag: "\"1\""]) {
        let chunks = stride(from: 0, to: Self.count, by: 200_000).map {
            Self.body[$0..<min(Self.count, $0 + 200_000)]
        }
        transport.on(.get, "/file", .stream(headers: headers, chunks: chunks.map { Data($0) }))
    }

    private func request(
        _ mode: Mode = .http, _ change: (inout RequestDescription) -> Void = { _ in }
    ) -> InlineRequest {
        InlineRequest("file") {
            if mode == .time { $0.cacheSeconds = 60 } else { $0.cache.policy = .http }
            $0.acceptance.format = .any
            change(&$0)
        }
    }

    private func names(_ name: String) -> Int { events.names.count { $0 == name } }

    @Test(arguments: Mode.allCases, [true, false])
    func largeBodyIsStoredAndStreamed(mode: Mode, isAsynchronous: Bool) async throws {
        script()
        let first = try await request(mode) { $0.cache.writesAsynchronously = isAsynchronous }
            .stream(on: agent)
        #expect(await first.readToEnd().bytes == Self.body)
        // Without `flushCache()`: the copy of a queued write is read, too.
        for _ in 0..<2 {
            let stream = try await request(mode).stream(on: agent)
            #expect(stream.response.source == .cacheFresh && stream.response.data.isEmpty)
            let reading = await stream.readToEnd()
            #expect(reading.error == nil && reading.bytes == Self.body)
            #expect(reading.chunks > 1)
            await agent.flushCache()
        }
        #expect(names("cacheStored") == 1 && names("cacheWriteFailed") == 0)
        let entry = try #require(try await agent.store?.entries().first)
        #expect(entry.size > Self.count && entry.size < Self.count + 1000)
        // A request that is not streamed gets the body in memory.
        #expect(try await request(mode).send(on: agent).data == Self.body)
        #expect(transport.requestCount == 1)
        #expect(agent.activeTasks.isEmpty)
    }

    @Test func storesWithoutPartsKeepTheLimitOfMemory() async throws {
        let agent = RequestAgent(
            configuration: agent.configuration, transport: transport,
            store: MemoryResponseStore(), clock: clock)
        script()
        let stream = try await request().stream(on: agent)
        #expect(await stream.readToEnd().bytes == Self.body)
        await agent.flushCache()
        #expect(names("cacheStored") == 0 && names("cacheWriteFailed") == 1)
        #expect(try await agent.store?.entries().isEmpty == true)
    }

    @Test func confirmedBodyIsFreshAgain() async throws {
        script()
        _ = await (try await request().stream(on: agent)).readToEnd()
        await agent.flushCache()
        transport.on(
            .get, "/file",
            ScriptedResponse(
                status: .notModified, headers: [.cacheControl: "max-age=600", .eTag: "\"1\""]))
        clock.advance(by: .seconds(61))
        let left = try await request().stream(on: agent)
        for try await _ in left.bytes { break }
        let second = try await request().stream(on: agent)
        #expect(second.response.source == .revalidated)
        #expect(await second.readToEnd().bytes == Self.body)
        await agent.flushCache()
        clock.advance(by: .seconds(500))
        let third = try await request().stream(on: agent)
        #expect(third.response.source == .cacheFresh)
        #expect(await third.readToEnd().bytes == Self.body)
        #expect(transport.requestCount == 3)
    }

    /// The confirmation forbids to store it; its parts are removed after they have been read.
    @Test func confirmedBodyThatMustNotBeStoredIsRemoved() async throws {
        script()
        _ = await (try await request().stream(on: agent)).readToEnd()
        await agent.flushCache()
        transport.on(
            .get, "/file",
            ScriptedResponse(
                status: .notModified, headers: [.cacheControl: "no-store", .eTag: "\"1\""]))
        clock.advance(by: .seconds(61))
        let second = try await request().stream(on: agent)
        #expect(second.response.source == .revalidated)
        #expect(await second.readToEnd().bytes == Self.body)
        await agent.flushCache()
        #expect(try await agent.store?.entries().isEmpty == true)
    }

    /// A revalidation in the background would need the body in memory.
    @Test func staleBodyIsRevalidatedBeforeItsUse() async throws {
        script([.cacheControl: "max-age=10, stale-while-revalidate=600", .eTag: "\"1\""])
        _ = await (try await request().stream(on: agent)).readToEnd()
        await agent.flushCache()
        transport.on(.get, "/file", ScriptedResponse(status: .notModified))
        clock.advance(by: .seconds(20))
        let second = try await request().stream(on: agent)
        #expect(second.response.source == .revalidated)
        #expect(await second.readToEnd().bytes == Self.body)
    }

    @Test func rangeOfAStoredBodyIsStreamed() async throws {
        script()
        _ = await (try await request().stream(on: agent)).readToEnd()
        let part = try await request { $0.headers[.range] = "bytes=900000-2100000" }.stream(
            on: agent)
        #expect(part.response.status == 206 && part.response.source == .cacheFresh)
        #expect(
            part.response.headers[.contentRange] == "bytes 900000-2100000/\(Self.count)")
        #expect(await part.readToEnd().bytes == Self.body[900_000...2_100_000])
        #expect(transport.requestCount == 1)
    }

    @Test func variantsOfLargeBodiesAreSeparate() async throws {
        script([.cacheControl: "max-age=60", .vary: "Accept-Language"])
        for language in ["de", "en", "de", "en"] {
            let stream = try await request { $0.headers[.acceptLanguage] = language }.stream(
                on: agent)
            #expect(await stream.readToEnd().bytes == Self.body)
            await agent.flushCache()
        }
        #expect(transport.requestCount == 2)
    }

    @Test(arguments: Mode.allCases) func clearedBodyIsNotStored(mode: Mode) async throws {
        script()
        let stream = try await request(mode).stream(on: agent)
        try await agent.clearCache()
        #expect(await stream.readToEnd().bytes == Self.body)
        await agent.flushCache()
        #expect(try await agent.store?.entries().isEmpty == true)
    }

    #if os(Linux)
        /// Runs in a process of its own, whose peak memory is measured, with `ERRAND_LARGE_BODY_MIB` (96).
        @Test(arguments: Mode.allCases) func largeBodyNeedsLittleMemory(mode: Mode) async throws {
            await #expect(processExitsWith: .success) {
                [path = directory.path as String, mode = mode as Mode] in
                let variable = ProcessInfo.processInfo.environment["ERRAND_LARGE_BODY_MIB"]
                let chunks = 8 * (variable.flatMap { Int($0) } ?? 96)
                let transport = ScriptedTransport()
                // All chunks share their bytes.
                let chunk = Data(count: 128 << 10)
                transport.on(
                    .get, "/file",
                    .stream(
                        headers: [.cacheControl: "max-age=600"],
                        chunks: Array(repeating: chunk, count: chunks)))
                transport.on(.get, "/small", .json("1"))
                let agent = RequestAgent(
                    configuration: Configuration(baseURL: "https://api.example.com/"),
                    transport: transport,
                    store: SQLiteResponseStore(
                        path: path, maximumBytes: 3 * chunks * chunk.count, maximumMemoryBytes: 0))
                func stream(_ url: String) async throws -> (Response.Source, Int) {
                    let request = InlineRequest(EndpointURL(raw: url)) {
                        if mode == .time { $0.cacheSeconds = 600 } else { $0.cache.policy = .http }
                    }
                    let stream = try await request.stream(on: agent)
                    var count = 0
                    for try await bytes in stream.bytes { count += bytes.count }
                    await agent.flushCache()
                    return (stream.response.source, count)
                }
                for _ in 0..<2 { _ = try await stream("small") }
                let before = try Self.peakMemory()
                let expected = chunks * chunk.count
                for source in [Response.Source.network, .cacheFresh] {
                    let (found, count) = try await stream("file")
                    if found != source || count != expected {
                        print("\(found), \(count) bytes")
                        exit(2)
                    }
                }
                let growth = try Self.peakMemory() - before
                // A sanitizer multiplies the memory.
                if growth > 34_000_000, getenv("ERRAND_SANITIZER") == nil {
                    print("\(growth) bytes")
                    exit(3)
                }
            }
        }

        /// The peak of the resident memory of the process, in bytes.
        private static func peakMemory() throws -> Int {
            let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
            let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
            return (Int(line.filter(\.isNumber)) ?? 0) << 10
        }
    #endif
}
