import ErrandTesting
import Foundation
import TestSupport
import Testing

@testable import ErrandCore

/// Resumption without a strong validator: the last bytes are requested again and compared.
@Suite(.limited)
struct WeakValidatorTests {
    let fixture: DownloadStepFixture
    let content = DownloadStepFixture.bytes(100_000)

    init() throws {
        fixture = try DownloadStepFixture()
        fixture.plan { $0.weakValidatorOverlap = 5000 }
        fixture.server.change { $0.headers = [.eTag: "W/\"v1\""] }
    }

    private func interrupt(at offset: Int) async {
        fixture.server.change { $0.cuts = [offset] }
        _ = await fixture.runToError()
    }

    static let validators: [HTTPFields] = [
        [.eTag: "W/\"v1\""], [.lastModified: "Sun, 06 Nov 1994 08:49:37 GMT"],
    ]

    @Test(arguments: validators)
    func lastBytesAreComparedWithoutIfRange(headers: HTTPFields) async throws {
        fixture.server.change { $0.headers = headers }
        fixture.plan { $0.sha256 = SHA256.hex(content) }
        await interrupt(at: 40_000)
        let file = try #require(try await fixture.run().downloadedFile)
        #expect(fixture.server.ranges == ["-", "bytes=35000-"])
        #expect(fixture.server.requests.allSatisfy { $0.headers[.ifRange] == nil })
        #expect(file.resumedOffset == 40_000)
        #expect(haveSameBytes(fixture.content(), content))
    }

    @Test func overlapIsAtMostThePart() async throws {
        await interrupt(at: 3000)
        try await fixture.run()
        #expect(fixture.server.ranges == ["-", "bytes=0-"])
        #expect(haveSameBytes(fixture.content(), content))
    }

    @Test func completePartIsConfirmedByItsEnd() async throws {
        await interrupt(at: 100_000)
        try await fixture.run()
        #expect(fixture.server.ranges == ["-", "bytes=95000-"])
        #expect(haveSameBytes(fixture.content(), content))
    }

    /// The chunks of the response and the end of the overlap do not coincide.
    @Test(arguments: [1, 100, 4999, 5000, 5001])
    func overlapEndsAnywhereInAChunk(chunkSize: Int) async throws {
        await interrupt(at: 40_000)
        fixture.server.change { $0.chunkSize = chunkSize }
        try await fixture.run()
        #expect(haveSameBytes(fixture.content(), content))
    }

    @Test func otherBytesStartTheDownloadAgain() async throws {
        await interrupt(at: 40_000)
        var changed = content
        changed[39_999] ^= 1
        let other = changed
        fixture.server.change { $0.content = other }
        try await fixture.run()
        #expect(fixture.server.ranges == ["-", "bytes=35000-", "-"])
        #expect(haveSameBytes(fixture.content(), other))
    }

    @Test(arguments: [[.eTag: "W/\"v2\""], [:]] as [HTTPFields])
    func responseMustHaveTheValidator(headers: HTTPFields) async throws {
        await interrupt(at: 40_000)
        fixture.server.change { $0.headers = headers }
        try await fixture.run()
        #expect(fixture.server.ranges == ["-", "bytes=35000-", "-"])
        #expect(haveSameBytes(fixture.content(), content))
    }

    /// A server that limits ranges to fewer bytes than the overlap sends the whole file instead.
    @Test func rangesWithoutNewBytesStartTheDownloadAgain() async throws {
        await interrupt(at: 40_000)
        fixture.server.change { $0.longestRange = 5000 }
        try await fixture.run()
        #expect(fixture.server.ranges == ["-", "bytes=35000-", "-"])
        #expect(haveSameBytes(fixture.content(), content))
    }

    @Test func withoutTheOptionThePartIsNotUsed() async throws {
        await interrupt(at: 40_000)
        fixture.plan { $0.weakValidatorOverlap = 0 }
        try await fixture.run()
        #expect(fixture.server.ranges == ["-", "-"])
    }

    @Test func aResponseWithoutAnyValidatorIsNotResumed() async throws {
        fixture.server.change { $0.headers = [:] }
        await interrupt(at: 40_000)
        #expect(fixture.names.isEmpty)
    }

    @Test func strongValidatorNeedsNoOverlap() async throws {
        fixture.server.change { $0.headers = [.eTag: "\"v1\""] }
        await interrupt(at: 40_000)
        try await fixture.run()
        #expect(fixture.server.ranges == ["-", "bytes=40000-"])
    }
}
