import Testing

@testable import ErrandCurl

/// An upload is resumed if it stalls or is refused.
struct UploadWatchTests {
    private let start = MonotonicTime(nanoseconds: 1_000)
    private func after(_ duration: Duration) -> MonotonicTime { start.advanced(by: duration) }

    @Test func requestWithoutUploadIsNotChecked() {
        var watch = UploadWatch()
        #expect(watch.nextCheck == .never)
        #expect(watch.isCheckDue(at: after(.seconds(1_000))) == false)
    }

    @Test func checksFollowTheRequestHead() {
        var watch = UploadWatch()
        watch.requestSent(at: start)
        #expect(watch.nextCheck == after(UploadWatch.stallInterval))
        #expect(watch.isCheckDue(at: start) == false)
        #expect(watch.isCheckDue(at: after(UploadWatch.stallInterval)) == true)
        #expect(watch.nextCheck == after(UploadWatch.stallInterval * 2))
        #expect(watch.isCheckDue(at: after(UploadWatch.stallInterval)) == false)
    }

    @Test func restartEndsTheChecks() {
        var watch = UploadWatch()
        watch.requestSent(at: start)
        watch.restart()
        #expect(watch.nextCheck == .never)
        watch.requestSent(at: start)
        #expect(watch.nextCheck != .never)
    }

    @Test func refusalIsQueuedOnce() {
        var watch = UploadWatch()
        #expect(watch.takeRefusal() == false)
        #expect(watch.refused() == true)
        #expect(watch.refused() == false)
        #expect(watch.takeRefusal() == true)
        #expect(watch.takeRefusal() == false)
        #expect(watch.refused() == true)
    }

    /// A repeated body starts at 0.
    @Test func progressNeverDecreases() {
        var watch = UploadWatch()
        #expect(watch.sent(0) == false)
        #expect(watch.sent(10) == true)
        #expect(watch.sent(10) == false)
        #expect(watch.sent(4) == false)
        watch.restart()
        #expect(watch.sent(10) == false)
        #expect(watch.sent(11) == true)
    }
}
