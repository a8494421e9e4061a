import ErrandHTTP
import Testing

struct DurationTests {
    @Test(
        arguments: [
            (.zero, 0), (.nanoseconds(1), 1), (.milliseconds(1500), 1_500_000_000),
            (.nanoseconds(1) * 0.999, 0), (.nanoseconds(-1), -1), (.nanoseconds(-1) * 0.999, 0),
            (.seconds(-2), -2_000_000_000), (.nanoseconds(Int64.max), .max),
            (.nanoseconds(Int64.max) + .nanoseconds(1), .max), (.seconds(Int64.max), .max),
            (.nanoseconds(Int64.min), .min), (.seconds(Int64.min), .min),
        ] as [(Duration, Int64)])
    func wholeNanoseconds(duration: Duration, nanoseconds: Int64) {
        #expect(duration.wholeNanoseconds == nanoseconds)
    }
}
