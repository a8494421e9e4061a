#if os(Linux)
    import ErrandTransport
    import Testing

    @testable import ErrandCurl

    /// The times of a transfer that the engine carries, before it has a connection.
    struct ExchangeTimesTests {
        private let created = MonotonicTime(nanoseconds: 2_000_000)

        @Test func transferThatWasNotStartedHasOnlyItsEnd() {
            let timings = ExchangeTimes().timings(created: created)
            #expect(timings.finished != nil)
            #expect(timings.queued == nil && timings.firstByte == nil)
            #expect(timings.nameLookedUp == nil && timings.connected == nil)
            #expect(timings.secured == nil && timings.reusedConnection == nil)
        }

        /// A turn of the loop may have begun before the transfer was created.
        @Test(arguments: [(0, 0), (2, 0), (3, 1), (12, 10)] as [(UInt64, Int)])
        func queuedIsTheTimeUntilTheStart(started: UInt64, milliseconds: Int) {
            var times = ExchangeTimes()
            times.started = MonotonicTime(nanoseconds: started * 1_000_000)
            #expect(times.timings(created: created).queued == .milliseconds(milliseconds))
        }

        @Test func restartCountsAsQueued() {
            var times = ExchangeTimes()
            times.started = created.advanced(milliseconds: 1)
            #expect(times.timings(created: created).queued == .milliseconds(1))
            times.started = created.advanced(milliseconds: 7)
            #expect(times.timings(created: created).queued == .milliseconds(7))
        }

        @Test func finishedIsTheTimeOfTheReport() throws {
            let times = ExchangeTimes()
            let before = EventLoop.readClock()
            let first = try #require(times.timings(created: created).finished)
            let after = EventLoop.readClock()
            #expect(first >= before.since(created) && first <= after.since(created))
            while EventLoop.readClock() <= after {}
            let second = try #require(times.timings(created: created).finished)
            #expect(second > first)
        }

        @Test func firstByteIsTheFirstInput() throws {
            var times = ExchangeTimes()
            let before = EventLoop.readClock()
            times.receivedInput()
            let after = EventLoop.readClock()
            let first = try #require(times.timings(created: created).firstByte)
            #expect(first >= before.since(created) && first <= after.since(created))
            while EventLoop.readClock() <= after {}
            times.receivedInput()
            #expect(times.timings(created: created).firstByte == first)
        }

        @Test func timesBeforeTheCreationAreZero() {
            var times = ExchangeTimes()
            times.started = created
            times.receivedInput()
            let timings = times.timings(created: .never)
            #expect(timings.queued == .zero)
            #expect(timings.firstByte == .zero)
            #expect(timings.finished == .zero)
        }

        /// The transfer itself adds the bytes that it has sent, and those of the body.
        @Test func onlyTheReceivedHeadsAreReported() {
            var times = ExchangeTimes()
            times.headBytesReceived = 7
            times.headBytesSent = 9
            let timings = times.timings(created: created)
            #expect(timings.headBytesReceived == 7)
            #expect(timings.bytesSent == 0 && timings.bytesReceived == 0)
        }
    }
#endif
