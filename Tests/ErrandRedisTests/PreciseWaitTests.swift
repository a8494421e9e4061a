#if Redis && os(Linux)
    import Foundation
    import TestSupport
    import Testing

    @testable import ErrandRedis

    @Suite(.limited)
    struct PreciseWaitTests {
        private static let hour: Int64 = 3_600_000_000_000
        private let ends: [Int32]

        init() throws {
            var ends: [Int32] = [-1, -1]
            guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0 else {
                throw POSIXError(.EMFILE)
            }
            self.ends = ends
        }

        private func finish() { for end in ends { close(end) } }

        @Test func waitEndsWithInputOrWithTheTime() {
            defer { finish() }
            #expect(!PreciseWait.forInput(ends[0], nanoseconds: 0))
            // Shorter than a millisecond, and longer than a second.
            #expect(!PreciseWait.forInput(ends[0], nanoseconds: 1))
            #expect(!PreciseWait.forInput(ends[0], nanoseconds: 1_000_000_001))
            #expect(write(ends[1], "x", 1) == 1)
            #expect(PreciseWait.forInput(ends[0], nanoseconds: 0))
            #expect(PreciseWait.forInput(ends[0], nanoseconds: Self.hour))
        }

        @Test func endOfTheConnectionEndsTheWait() {
            defer { close(ends[0]) }
            close(ends[1])
            #expect(PreciseWait.forInput(ends[0], nanoseconds: Self.hour))
        }

        @Test func roomForOutputEndsTheWaitIfAskedFor() {
            defer { finish() }
            #expect(PreciseWait.forInput(ends[0], orOutput: true, nanoseconds: Self.hour))
            let flags = Int32(MSG_DONTWAIT)
            let bytes = [UInt8](repeating: 0, count: 1 << 20)
            while send(ends[0], bytes, bytes.count, flags) > 0 {}
            while send(ends[0], bytes, 1, flags) > 0 {}
            #expect(!PreciseWait.forInput(ends[0], orOutput: true, nanoseconds: 1))
        }

        @Test(
            arguments: [
                (0, 0), (1, 1), (999_999, 1), (1_000_000, 1), (1_000_001, 2), (.max, .max),
            ] as [(Int64, Int32)])
        func millisecondsAreRoundedUp(nanoseconds: Int64, milliseconds: Int32) {
            #expect(PreciseWait.milliseconds(nanoseconds) == milliseconds)
        }
    }
#endif
