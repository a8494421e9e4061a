import ErrandCore
import ErrandHTTP
import ErrandTesting
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import ErrandDownloadQueue

/// Options of a queue and of its downloads together.
@Suite(.limited) struct QueueCombinationTests {
    private static let content = DownloadQueueFixture.bytes(6 << 20)

    /// Each of the parallel requests has the headers, and all of them together keep the limit of the bandwidth.
    @Test func parallelRequestsHaveTheHeadersAndShareTheBandwidth() async throws {
        let content = Self.content
        let fixture = try DownloadQueueFixture(content: content)
        try await fixture.server.start()
        let clock = ManualClock()
        let queue = try await fixture.queue(.init(bytesPerSecond: 150_000), clock: clock)
        var download = fixture.download()
        download.headers = [HTTPField.Name("X-Channel")!: "beta"]
        download.segments = 3
        download.expectedDigests = [.sha256(SHA256.hex(content))]
        try await queue.add([download])
        let opening = Task {
            // Each response waits after its first bytes, so that the ranges are requested in parallel.
            try await fixture.server.until { $0.requests == 3 }
            fixture.gate.open()
        }
        await fixture.untilIdle(queue, advancing: clock)
        try await opening.value
        #expect(queue.entries.map(\.state) == [.finished(fixture.file())])
        #expect(try fixture.haveContent(["a"], content))
        let requests = fixture.server.requests
        #expect(requests.allSatisfy { $0.header("X-Channel") == "beta" })
        #expect(requests.count { $0.header("Range") != nil } == requests.count - 1)
        let seconds = Double(content.count) / 150_000
        #expect(clock.uptime >= .seconds(seconds * 0.95), "\(clock.uptime)")
        await queue.close()
        await fixture.server.stop()
    }
}
