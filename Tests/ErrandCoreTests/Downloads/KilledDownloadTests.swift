import ErrandTesting
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ErrandCore

/// The part file, the journal and the lock of a process that was killed during a download.
@Suite(.limited)
struct KilledDownloadTests {
    let fixture: DownloadStepFixture
    let content = DownloadStepFixture.bytes(100_000)

    init() throws { fixture = try DownloadStepFixture() }

    private var partSize: Int { (try? Data(contentsOf: fixture.part).count) ?? 0 }

    /// Downloads in a child process, and kills it after this number of bytes of the response.
    private func downloadAndKill(after count: Int) async {
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [path = fixture.directory.path as String, count = count as Int] in
            let fixture = try DownloadStepFixture(in: path)
            fixture.server.change {
                $0.onChunk = { if $0 >= count { kill(getpid(), SIGKILL) } }
            }
            try await fixture.run()
        }
    }

    @Test func partOfAKilledProcessIsResumed() async throws {
        await downloadAndKill(after: 42_000)
        #expect(try haveSameBytes(Data(contentsOf: fixture.part), content.prefix(42_000)))
        #expect(fixture.content() == nil)
        try await fixture.run()
        #expect(fixture.server.ranges == ["bytes=42000-"])
        #expect(fixture.server.requests.first?.headers[.ifRange] == "\"v1\"")
        #expect(haveSameBytes(fixture.content(), content))
        #expect(fixture.names == ["f.bin"])
    }

    @Test func eachProcessContinuesThePartOfTheOneBefore() async throws {
        for round in 1...3 {
            await downloadAndKill(after: 14_000)
            #expect(partSize == round * 14_000)
        }
        fixture.plan { $0.sha256 = SHA256.hex(content) }
        try await fixture.run()
        #expect(fixture.server.ranges == ["bytes=42000-"])
        #expect(haveSameBytes(fixture.content(), content))
    }

    @Test func partOfAKilledProcessWithAnotherVersionIsReplaced() async throws {
        await downloadAndKill(after: 42_000)
        let changed = DownloadStepFixture.bytes(90_000, seed: 77)
        fixture.server.change {
            $0.content = changed
            $0.headers = [.eTag: "\"v2\""]
        }
        try await fixture.run()
        #expect(fixture.server.ranges == ["bytes=42000-"])
        #expect(haveSameBytes(fixture.content(), changed))
        #expect(fixture.names == ["f.bin"])
    }

    /// The first sync is that of the part file, the second that of its journal, which has a temporary name.
    @Test(arguments: [1, 2, 3, 4])
    func killDuringASyncKeepsThePart(sync number: Int) async throws {
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [path = fixture.directory.path as String, number = number as Int] in
            let destination = try DownloadDestination(
                DownloadPlan(to: URL(fileURLWithPath: path + "/f.bin")), url: HTTPURL())
            let syncs = Atomic(0)
            let file = PartFile(
                destination, descriptor: try FileLock.openLocked(destination.part),
                syncInterval: 1000
            ) { _ in
                if syncs.add(1, ordering: .relaxed).newValue == number { kill(getpid(), SIGKILL) }
                return true
            }
            let journal = DownloadJournal(
                url: "http://a/f.bin", validator: "\"v1\"", total: 100_000,
                session: BootSession.current)
            guard file.begin(journal) == nil else { exit(3) }
            let bytes = DownloadStepFixture.bytes(100_000)
            for start in stride(from: 0, to: 100_000, by: 700) {
                let chunk = bytes[start..<min(start + 700, bytes.count)]
                guard chunk.withUnsafeBytes({ file.append($0) }) == nil else { exit(4) }
            }
            // Syncs once more, after the syncs that are due.
            await file.close(.kept)
        }
        let size = partSize
        #expect(size >= 1000)
        #expect(try haveSameBytes(Data(contentsOf: fixture.part), content.prefix(size)))
        try await fixture.run()
        // If the part file is complete already, the server responds with 416.
        #expect(fixture.server.ranges == ["bytes=\(size)-"])
        #expect(haveSameBytes(fixture.content(), content))
        #expect(fixture.names == ["f.bin"])
    }

    #if os(Linux)
        @Test func lockOfAnotherProcessIsFreeAfterItWasKilled() async throws {
            if let folder = TestProcess.role?["folder"] {
                let fixture = try DownloadStepFixture(in: folder)
                fixture.server.change {
                    $0.onChunk = { if $0 >= 42_000 { TestProcess.waitToBeKilled() } }
                }
                try await fixture.run()
            }
            let other = try TestProcess(
                running: "KilledDownloadTests/lockOfAnotherProcessIsFreeAfterItWasKilled",
                as: ["folder": fixture.directory.path])
            try #require(await other.isReady(), "\(other.output)")
            let error = await fixture.runToError()
            #expect(error?.code == .fileFailed)
            #expect(error?.message.contains("Another download") == true)
            #expect(fixture.server.requests.isEmpty)
            #expect(partSize == 42_000)
            #expect(await other.killed() == .signal(SIGKILL))
            try await fixture.run()
            #expect(fixture.server.ranges == ["bytes=42000-"])
            #expect(haveSameBytes(fixture.content(), content))
        }
    #endif
}
