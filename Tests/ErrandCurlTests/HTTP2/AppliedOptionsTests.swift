import ErrandTransport
import Testing

@testable import ErrandCurl

/// The next request inherits an option of its easy handle only if it has the same options.
struct AppliedOptionsTests {
    private func options(_ version: TransportOptions.HTTPVersionPolicy) -> TransportOptions {
        var options = TransportOptions()
        options.httpVersion = version
        return options
    }

    private func ready() -> AppliedOptions {
        var applied = AppliedOptions()
        applied.wereReset()
        applied.completedReset()
        return applied
    }

    // MARK: - Special options

    @Test func newHandleNeedsReset() {
        #expect(AppliedOptions().needsReset)
        #expect(!AppliedOptions().needsReplacement)
        #expect(!ready().needsReset)
    }

    @Test func ordinaryRequestLeavesNothing() {
        var applied = ready()
        applied.completedSpecial(options(.automatic), isMarked: false)
        #expect(!applied.needsReset)
        #expect(!applied.areInherited(by: options(.automatic)))
    }

    @Test func equalSpecialOptionsAreInherited() {
        var applied = ready()
        applied.addedSpecial()
        applied.completedSpecial(options(.http11), isMarked: false)
        #expect(applied.needsReset)
        #expect(applied.areInherited(by: options(.http11)))
        #expect(!applied.areInherited(by: options(.http2)))
        #expect(!applied.areInherited(by: options(.automatic)))
    }

    @Test func markedOptionsAreInherited() {
        var applied = ready()
        applied.completedSpecial(options(.http11), isMarked: true)
        #expect(applied.areInherited(by: options(.http11)))
    }

    @Test func incompleteSpecialOptionsAreNotInherited() {
        var applied = ready()
        applied.addedSpecial()
        #expect(applied.needsReset)
        #expect(!applied.areInherited(by: options(.http11)))
    }

    @Test func uniqueOptionIsNotInherited() {
        var applied = ready()
        applied.completedSpecial(options(.http11), isMarked: true)
        applied.addedUnique()
        #expect(applied.needsReset)
        #expect(!applied.areInherited(by: options(.http11)))
    }

    @Test func resetForgetsAllOptions() throws {
        var applied = ready()
        applied.addedSpecial()
        applied.completedSpecial(options(.http11), isMarked: true)
        applied.changedBuffer(to: 32 << 10)
        applied.sessionShare = UnsafeMutableRawPointer(bitPattern: 8)
        applied.isLimitedToHTTP11 = true
        applied.waitsForSharing = true
        applied.repeatsUnprocessedOnly = true
        applied.wereReset()
        // If an option of all requests cannot be set, the next request tries again.
        #expect(applied.needsReset)
        #expect(!applied.areInherited(by: options(.http11)))
        #expect(applied.bufferToSet(custom: nil, mayBeHTTP2: false) == 32 << 10)
        #expect(applied.sessionShare == nil)
        #expect(!applied.isLimitedToHTTP11)
        #expect(!applied.waitsForSharing)
        #expect(!applied.repeatsUnprocessedOnly)
        applied.completedReset()
        #expect(!applied.needsReset)
    }

    // MARK: - Receive buffer

    @Test func bufferHoldsHeadOfHTTP2() {
        var applied = ready()
        #expect(applied.bufferToSet(custom: nil, mayBeHTTP2: false) == 32 << 10)
        #expect(applied.bufferToSet(custom: nil, mayBeHTTP2: true) == 160 << 10)
        #expect(!applied.needsReplacement)
    }

    @Test func bufferIsSetOnce() {
        var applied = ready()
        applied.changedBuffer(to: 32 << 10)
        #expect(applied.bufferToSet(custom: nil, mayBeHTTP2: false) == nil)
        #expect(applied.bufferToSet(custom: nil, mayBeHTTP2: true) == 160 << 10)
    }

    @Test(arguments: [
        (1, false, 1 << 10), (1, true, 160 << 10), (100_000, false, 100_000),
        (200_000, true, 200_000), (1 << 30, false, 10 << 20), (1 << 30, true, 10 << 20),
    ])
    func customBufferIsLimited(custom: Int, mayBeHTTP2: Bool, bytes: Int) {
        var applied = ready()
        #expect(applied.bufferToSet(custom: custom, mayBeHTTP2: mayBeHTTP2) == bytes)
        // libcurl keeps the buffer, so another request must not get this handle.
        #expect(applied.needsReplacement)
    }

    // MARK: - Replacement

    @Test func taintedHandleIsReplaced() {
        var applied = ready()
        applied.taint()
        #expect(applied.needsReplacement)
        // Resetting the options does not remove libcurl's state.
        applied.wereReset()
        #expect(applied.needsReplacement)
    }
}
