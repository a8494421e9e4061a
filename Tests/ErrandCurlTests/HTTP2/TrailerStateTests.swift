import Testing

@testable import ErrandCurl

/// A handle that has begun to send trailers is not used for another body.
struct TrailerStateTests {
    @Test func newHandleSendsNoTrailers() {
        let state = TrailerState()
        #expect(!state.areSent && !state.haveBegun)
    }

    @Test(arguments: [false, true])
    func trailersBeginAtTheEndOfTheBody(areSent: Bool) {
        var state = TrailerState(areSent: areSent)
        #expect(state.areSent == areSent && !state.haveBegun)
        // libcurl may read the end of a body more than once.
        for _ in 0..<2 {
            state.bodyEnded()
            #expect(state.areSent == areSent && state.haveBegun == areSent)
        }
    }
}
