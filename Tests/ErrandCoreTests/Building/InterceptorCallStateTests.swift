import TestSupport
import Testing

@testable import ErrandCore

@Suite struct InterceptorCallStateTests {
    @Test func callsFollowOneAnotherUntilTheReturn() {
        var state = InterceptorCallState()
        expectEqual(state.begin(), nil)
        expectEqual(state.begin(), .concurrent)
        expectEqual(state.end(), false)
        expectEqual(state.begin(), nil)
        expectEqual(state.end(), false)
        expectEqual(state.close(), false)
        expectEqual(state.begin(), .late)
    }

    @Test func returnWaitsForTheCallInProgress() {
        var state = InterceptorCallState()
        expectEqual(state.begin(), nil)
        expectEqual(state.close(), true)
        expectEqual(state.begin(), .late)
        expectEqual(state.end(), true)
        expectEqual(state.begin(), .late)
    }
}
