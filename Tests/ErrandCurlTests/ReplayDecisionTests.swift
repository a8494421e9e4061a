import ErrandCurl
import Testing

/// Sent again only where nobody can be harmed and it can help.
struct ReplayDecisionTests {
    /// Of all that can come together, one set of facts alone begins again.
    @Test(arguments: 0..<32)
    func onlyOne(bits: Int) {
        let decision = ReplayDecision(
            mayReplay: bits & 1 != 0, wasReused: bits & 2 != 0, hasAnswerBegun: bits & 4 != 0,
            isConnectionLost: bits & 8 != 0, isWanted: bits & 16 != 0)
        #expect(decision.beginsAgain == (bits == 0b11011))
    }
}
