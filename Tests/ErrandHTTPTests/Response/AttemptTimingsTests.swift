import Testing

@testable import ErrandHTTP

@Suite struct AttemptTimingsTests {
    private static var members: [WritableKeyPath<AttemptTimings, Duration?>] {
        [
            \.queued, \.nameLookedUp, \.connected, \.secured, \.firstByte, \.finished,
        ]
    }

    @Test(arguments: 0..<6)
    func timesAreExactToTheNanosecond(_ index: Int) {
        let member = Self.members[index]
        var timings = AttemptTimings()
        #expect(timings[keyPath: member] == nil)
        let cases: [(Duration, Duration)] = [
            (.zero, .zero), (.nanoseconds(1), .nanoseconds(1)),
            (.nanoseconds(-1), .nanoseconds(-1)),
            (.seconds(3) + .nanoseconds(7), .nanoseconds(3_000_000_007)),
            (.nanoseconds(7) + Duration(attoseconds: 499_999_999), .nanoseconds(7)),
            (.nanoseconds(7) - Duration(attoseconds: 500_000_000), .nanoseconds(7)),
            (Duration(attoseconds: -500_000_000), .nanoseconds(-1)),
            (.seconds(2.3), .milliseconds(2300)),
            (.seconds(Int64.max), .nanoseconds(Int64.max)),
            (.seconds(Int64.min), .nanoseconds(-Int64.max)),
        ]
        for (written, read) in cases {
            timings[keyPath: member] = written
            #expect(timings[keyPath: member] == read)
            for other in Self.members where other != member {
                #expect(timings[keyPath: other] == nil)
            }
        }
        timings[keyPath: member] = nil
        #expect(timings == AttemptTimings())
    }

    @Test func dumpsHaveTheTimes() {
        var timings = AttemptTimings()
        timings.queued = .milliseconds(7)
        timings.bytesSent = 12
        let text = String(reflecting: timings)
        #expect(text.contains("queued: Optional(0.007 seconds)"), "\(text)")
        #expect(text.contains("firstByte: nil") && text.contains("bytesSent: 12"), "\(text)")
        #expect(!text.contains("moments"), "\(text)")
    }
}
