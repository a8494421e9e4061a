import Foundation
import Testing

@testable import ErrandCore

@Suite(.timeLimit(.minutes(5)))
struct DownloadStepTests {
    let world: DownloadWorld
    let content = DownloadWorld.bytes(100_000)

    init() throws { world = try DownloadWorld() }

    @Test func aWholeFileArrivesAndNothingElseIsLeft() async throws {
        let response = try await world.run()
        #expect(response.file?.path == world.destination.path)
        #expect(world.content() == content)
        #expect(world.names == ["f.bin"])
        #expect(world.server.requests.first?.headers[.acceptEncoding] == "identity")
        #expect(world.server.ranges == ["-"])
        #expect(world.events.all.isEmpty)
    }

    @Test func anEmptyFileIsAFile() async throws {
        world.server.change { $0.content = Data() }
        try await world.run()
        #expect(world.content() == Data())
    }

    @Test func directoriesOnTheWayAreMade() async throws {
        world.plan { $0.destination = world.directory.appendingPathComponent("x/y/g.bin") }
        try await world.run()
        #expect(world.content("x/y/g.bin") == content)
    }

    @Test func aDirectoryGetsTheNameOfTheAddress() async throws {
        world.plan { $0.destination = world.directory }
        #expect(try await world.run().file?.lastPathComponent == "f.bin")
        #expect(world.content() == content)
    }

    @Test func aCutTransferGoesOnWhereItBroke() async throws {
        world.server.change { $0.cuts = [40_000] }
        let error = await world.runToError()
        #expect(error?.code == .connectionLost)
        #expect(error?.response?.file == nil)
        #expect(world.names == [".f.bin.errand-journal", ".f.bin.errand-part"])
        let response = try await world.run()
        #expect(world.server.ranges == ["-", "bytes=40000-"])
        #expect(world.server.requests.last?.headers[.ifRange] == "\"v1\"")
        #expect(world.events.all == ["resumed 40000"])
        #expect(response.statusCode == 206)
        #expect(world.content() == content)
        #expect(world.names == ["f.bin"])
    }

    @Test func manyCutsAreManyResumes() async throws {
        world.server.change { $0.cuts = [1, 0, 7001, 50_000, 3] }
        while await world.runToError() != nil {}
        #expect(world.content() == content)
        #expect(
            world.server.ranges
                == ["-", "bytes=1-", "bytes=1-", "bytes=7002-", "bytes=57002-", "bytes=57005-"])
    }

    @Test func aNewVersionStartsAgain() async throws {
        world.server.change { $0.cuts = [40_000] }
        _ = await world.runToError()
        let newer = DownloadWorld.bytes(60_000, seed: 5)
        world.server.change { ($0.content, $0.headers) = (newer, [.eTag: "\"v2\""]) }
        try await world.run()
        #expect(world.content() == newer)
        #expect(world.server.ranges == ["-", "bytes=40000-"])
    }

    @Test func aServerWithoutRangesStartsAgain() async throws {
        world.server.change { ($0.cuts, $0.knowsRanges) = ([40_000], false) }
        _ = await world.runToError()
        try await world.run()
        #expect(world.content() == content)
    }

    private static let weakHeaders: [HTTPFields] = [
        [:], [.eTag: "W/\"v1\""], [.eTag: "\"v1\"", .contentEncoding: "gzip"],
        [.lastModified: "Sun, 06 Nov 1994 08:49:37 GMT"],
    ]

    @Test("Without strong validator there is nothing to resume", arguments: weakHeaders)
    func weak(headers: HTTPFields) async throws {
        world.server.change { ($0.cuts, $0.headers) = ([40_000], headers) }
        _ = await world.runToError()
        #expect(world.names.isEmpty)
        try await world.run()
        #expect(world.server.ranges == ["-", "-"])
        #expect(world.content() == content)
    }

    @Test func anOldModificationDateIsStrong() async throws {
        world.server.change {
            $0.cuts = [40_000]
            $0.headers = [
                .lastModified: "Sun, 06 Nov 1994 08:49:37 GMT",
                .date: "Sun, 13 Nov 1994 08:49:37 GMT",
            ]
        }
        _ = await world.runToError()
        try await world.run()
        #expect(
            world.server.requests.last?.headers[.ifRange] == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(world.content() == content)
    }

    @Test func aPartThatDoesNotFitStartsAgainOnce() async throws {
        world.server.change { $0.cuts = [40_000] }
        _ = await world.runToError()
        let wrong = (206, [.contentRange: "bytes 0-9/10"] as HTTPFields, Data(count: 10))
        world.server.change { $0.scripted = [wrong] }
        try await world.run()
        #expect(world.server.ranges == ["-", "bytes=40000-", "-"])
        #expect(world.content() == content)
    }

    @Test func aPartForEverybodyIsAnError() async {
        let wrong = (206, [.contentRange: "bytes 0-9/10"] as HTTPFields, Data(count: 10))
        world.server.change { $0.scripted = [wrong] }
        #expect(await world.runToError()?.code == .badServerResponse)
        #expect(world.names.isEmpty)
    }

    @Test func aCompletePartIsSettledByA416() async throws {
        world.server.change { ($0.announcesLength, $0.cuts) = (false, [100_000]) }
        _ = await world.runToError()
        let response = try await world.run()
        #expect(world.server.ranges == ["-", "bytes=100000-"])
        #expect(response.status == .ok)
        #expect(response.file?.path == world.destination.path)
        #expect(world.content() == content)
        #expect(world.names == ["f.bin"])
    }

    @Test func a416OfAShorterFileStartsAgain() async throws {
        world.server.change { ($0.announcesLength, $0.cuts) = (false, [100_000]) }
        _ = await world.runToError()
        world.server.change { $0.content = DownloadWorld.bytes(50) }
        try await world.run()
        #expect(world.server.ranges == ["-", "bytes=100000-", "-"])
        #expect(world.content() == DownloadWorld.bytes(50))
    }

    @Test func aServerThatSendsShortRangesIsAskedUntilAllIsThere() async throws {
        world.server.change { ($0.cuts, $0.longestRange) = ([10], 30_000) }
        _ = await world.runToError()
        try await world.run()
        #expect(world.content() == content)
        #expect(world.server.ranges.count == 5)
    }

    @Test func cancellingKeepsWhatCame() async throws {
        world.server.change { $0.cuts = [40_000] }
        _ = await world.runToError()
        world.server.change { $0.scripted = [] }
        #expect(await world.runToError(isCancelled: true)?.code == .cancelled)
        #expect(world.content() == nil)
        #expect(world.names == [".f.bin.errand-journal", ".f.bin.errand-part"])
        try await world.run()
        #expect(world.content() == content)
    }

    @Test func notResumingStartsAgain() async throws {
        world.server.change { $0.cuts = [40_000] }
        _ = await world.runToError()
        world.plan { $0.resumes = false }
        try await world.run()
        #expect(world.server.ranges == ["-", "-"])
        #expect(world.content() == content)
    }

    @Test func onlyGetIsResumed() async throws {
        world.describe { $0.method = .post }
        world.server.change { $0.cuts = [40_000] }
        _ = await world.runToError()
        try await world.run()
        #expect(world.server.ranges == ["-", "-"])
    }

    @Test func progressCountsTheBytesOfTheEarlierRun() async throws {
        world.server.change { $0.cuts = [40_000] }
        _ = await world.runToError()
        let context = world.context()
        let request = TransportRequest(url: URI(scheme: "http", host: "a", path: "/f.bin"))
        _ = try await Next([DownloadStep(), ValidateStep(), world.server])(
            Exchange(context: context, request: request))
        #expect(context.progress.current.bytesReceived == 40_000)
        #expect(context.progress.current.totalBytesToReceive == 100_000)
    }

    @Test func whatIsNoDownloadPassesThrough() async throws {
        let world = try CacheWorld()
        world.network.answer("one")
        let response = try await Next([DownloadStep(), world.network])(world.exchange())
        #expect(response.data == Data("one".utf8))
        #expect(world.network.seen.first?.sink == nil)
    }
}
