import ErrandCurl
import Testing

/// A request is replayed only if that is safe and may succeed.
struct ReplayDecisionTests {
    /// Exactly one combination of the conditions allows a replay.
    @Test(arguments: 0..<32)
    func replaysOnlyIfAllConditionsHold(bits: Int) {
        let decision = ReplayDecision(
            mayReplay: bits & 1 != 0, wasReused: bits & 2 != 0, hasResponseBegun: bits & 4 != 0,
            isConnectionLost: bits & 8 != 0, isWanted: bits & 16 != 0)
        #expect(decision.shouldReplay == (bits == 0b11011))
    }
}
