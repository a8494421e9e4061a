import ErrandTransport
import Testing

@testable import ErrandCurl

/// The timings of a transfer, computed from libcurl's values.
struct TransferTimesTests {
    private let created = MonotonicTime(nanoseconds: 5_000)
    private func after(_ milliseconds: Int) -> MonotonicTime {
        created.advanced(milliseconds: milliseconds)
    }

    private var measured: TransferTimes.Measured {
        TransferTimes.Measured(
            nameLookup: 1_000, connect: 2_000, handshake: 3_000, firstByte: 4_000,
            isConnectionNew: true)
    }

    private func timings(
        _ measured: TransferTimes.Measured?, wasSent: Bool = true, hasResponseBegun: Bool = true
    ) -> AttemptTimings {
        TransferTimes(startingAt: after(10)).timings(
            created: created, finished: after(20), measured: measured, wasSent: wasSent,
            hasResponseBegun: hasResponseBegun)
    }

    @Test func newConnectionHasAllTimes() {
        let timings = timings(measured)
        #expect(timings.queued == .milliseconds(10))
        #expect(timings.nameLookedUp == .milliseconds(11))
        #expect(timings.connected == .milliseconds(12))
        #expect(timings.secured == .milliseconds(13))
        #expect(timings.firstByte == .milliseconds(14))
        #expect(timings.finished == .milliseconds(20))
        #expect(timings.reusedConnection == false)
    }

    @Test func keptConnectionWasNotOpened() {
        var measured = measured
        measured.isConnectionNew = false
        let timings = timings(measured)
        #expect(timings.nameLookedUp == nil)
        #expect(timings.connected == nil)
        #expect(timings.secured == nil)
        #expect(timings.firstByte == .milliseconds(14))
        #expect(timings.reusedConnection == true)
    }

    @Test func unknownTimesAreAbsent() {
        let timings = timings(TransferTimes.Measured(connect: 2_000, isConnectionNew: true))
        #expect(timings.nameLookedUp == nil)
        #expect(timings.connected == .milliseconds(12))
        #expect(timings.secured == nil)
        #expect(timings.firstByte == nil)
    }

    /// libcurl may report the second lookup and the first connect.
    @Test func lookupIsNotAfterConnect() {
        var measured = measured
        measured.nameLookup = 9_000
        #expect(timings(measured).nameLookedUp == .milliseconds(12))
    }

    @Test func unsentRequestUsedNoConnection() {
        let timings = timings(measured, wasSent: false, hasResponseBegun: false)
        #expect(timings.reusedConnection == nil)
        #expect(timings.firstByte == nil)
    }

    @Test func transferThatLibcurlDidNotGet() {
        let timings = timings(nil)
        #expect(timings.queued == .milliseconds(10))
        #expect(timings.finished == .milliseconds(20))
        #expect(timings.connected == nil)
        #expect(timings.reusedConnection == nil)
    }

    @Test func restartCountsAsQueued() {
        var times = TransferTimes(startingAt: after(10))
        #expect(!times.wasAttached)
        times.restart(at: after(15))
        #expect(times.started == after(15))
        let timings = times.timings(
            created: created, finished: after(20), measured: measured, wasSent: true,
            hasResponseBegun: true)
        #expect(timings.queued == .milliseconds(15))
        #expect(timings.connected == .milliseconds(17))
    }

    /// The engine has taken over the handle, so libcurl's values are no longer available.
    @Test func keptTimingsGetTheEnd() {
        var times = TransferTimes(startingAt: after(10))
        #expect(times.kept(created: created, finished: after(20)) == nil)
        times.keep(timings(measured))
        let kept = times.kept(created: created, finished: after(30))
        #expect(kept?.finished == .milliseconds(30))
        #expect(kept?.connected == .milliseconds(12))
    }
}
