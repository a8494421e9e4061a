#if Redis
    import Testing

    @testable import ErrandRedis

    @Suite struct ReplyReadingTests {
        private typealias Sent = ReplyReading.Sent

        /// A connection whose last command was read by its caller.
        private func direct() -> ReplyReading {
            var reading = ReplyReading()
            _ = reading.sent(isAlone: true, mayRead: true)
            _ = reading.callerEnded(isIdle: true)
            return reading
        }

        @Test func callersReadOneAfterAnotherAndWakeTheLoopOnce() {
            var reading = ReplyReading()
            #expect(reading.reader == .loop)
            #expect(
                reading.sent(isAlone: true, mayRead: true)
                    == Sent(callerReads: true, wakesLoop: true))
            #expect(reading.reader == .caller)
            #expect(reading.callerEnded(isIdle: true) == false)
            for _ in 0..<100 {
                #expect(reading.reader == .none)
                #expect(
                    reading.sent(isAlone: true, mayRead: true)
                        == Sent(callerReads: true, wakesLoop: false))
                #expect(reading.reader == .caller)
                #expect(reading.callerEnded(isIdle: true) == false)
            }
        }

        @Test func commandBehindAnotherIsReadByTheReaderOfTheFirst() {
            var reading = direct()
            _ = reading.sent(isAlone: true, mayRead: true)
            #expect(
                reading.sent(isAlone: false, mayRead: true)
                    == Sent(callerReads: false, wakesLoop: false))
            #expect(reading.reader == .caller)
            // The first has its reply, and the second is pending.
            #expect(reading.callerEnded(isIdle: false) == true)
            #expect(reading.reader == .loop)
        }

        @Test(arguments: [(false, true), (true, false), (false, false)])
        func loopReadsWhatNoCallerCan(isAlone: Bool, mayRead: Bool) {
            var reading = ReplyReading()
            #expect(
                reading.sent(isAlone: isAlone, mayRead: mayRead)
                    == Sent(callerReads: false, wakesLoop: false))
            #expect(reading.reader == .loop)
            // The loop does not poll the connection any more, so it must be woken.
            reading = direct()
            #expect(
                reading.sent(isAlone: isAlone, mayRead: mayRead)
                    == Sent(callerReads: false, wakesLoop: true))
            #expect(reading.reader == .loop)
        }

        @Test func pauseIsDoubledByFailuresAndHalvedBySuccesses() {
            var reading = ReplyReading()
            /// The commands that the loop receives before a caller reads again.
            func commandsOfLoop() -> Int {
                for count in 0..<5000
                where reading.sent(isAlone: true, mayRead: true).callerReads { return count }
                return .max
            }
            #expect(commandsOfLoop() == 0)
            for pause in [16, 32, 64, 128, 256, 512, 1024, 1024] {
                #expect(reading.callerEnded(isIdle: false) == true)
                #expect(commandsOfLoop() == pause - 1)
            }
            for _ in 0..<3 {
                _ = reading.callerEnded(isIdle: true)
                #expect(commandsOfLoop() == 0)
            }
            #expect(reading.callerEnded(isIdle: false) == true)
            #expect(commandsOfLoop() == 127)
            for _ in 0..<20 {
                _ = reading.callerEnded(isIdle: true)
                #expect(commandsOfLoop() == 0)
            }
            #expect(reading.callerEnded(isIdle: false) == true)
            #expect(commandsOfLoop() == 15)
        }

        @Test func loopAndCallerNeverReadTogether() {
            var reading = ReplyReading()
            #expect(reading.loopBegins() == true)
            #expect(
                reading.sent(isAlone: true, mayRead: true)
                    == Sent(callerReads: false, wakesLoop: false))
            reading.loopEnded()
            #expect(reading.sent(isAlone: true, mayRead: true).callerReads == true)
            #expect(reading.loopBegins() == false)
            reading.loopEnded()
            #expect(reading.reader == .caller)
            _ = reading.callerEnded(isIdle: true)
            #expect(reading.loopBegins() == false)
            #expect(reading.sent(isAlone: true, mayRead: true).callerReads == true)
            #expect(reading.callerEnded(isIdle: false) == true)
            #expect(reading.loopBegins() == true)
        }

        @Test func unusedConnectionReturnsToTheLoop() {
            var reading = direct()
            // Used since the last check.
            reading.check()
            #expect(reading.reader == .none)
            reading.check()
            #expect(reading.reader == .loop)
            #expect(
                reading.sent(isAlone: true, mayRead: true)
                    == Sent(callerReads: true, wakesLoop: true))
            // A caller keeps the connection, however long it waits.
            reading.check()
            reading.check()
            #expect(reading.reader == .caller)
        }

        @Test func endOfTheConnectionIsReadByTheLoopOrTheCaller() {
            var reading = direct()
            reading.connectionEnded()
            #expect(reading.reader == .loop)
            #expect(reading.sent(isAlone: true, mayRead: true).callerReads == true)
            reading.connectionEnded()
            #expect(reading.reader == .caller)
            #expect(reading.callerEnded(isIdle: false) == true)
            reading.connectionEnded()
            #expect(reading.reader == .loop)
        }

        @Test func endWithoutACallerChangesNothing() {
            var reading = ReplyReading()
            #expect(reading.callerEnded(isIdle: true) == false)
            #expect(reading == ReplyReading())
        }
    }
#endif
