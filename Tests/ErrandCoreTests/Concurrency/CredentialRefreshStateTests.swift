import Testing

@testable import ErrandCore

@Suite struct CredentialRefreshStateTests {
    private func name(_ action: CredentialRefreshState.Action) -> String {
        switch action {
        case .begin: "begin"
        case .wait: "wait"
        case .take(.renewed): "renewed"
        case .take(.nothing): "nothing"
        case .take(.failed): "failed"
        }
    }

    @Test func firstRefusalStartsTheRefreshAndOthersWait() {
        var state = CredentialRefreshState()
        var names: [String] = []
        for waiter in 1...3 { names.append(name(state.refused(inRound: 0, waiter: waiter))) }
        #expect(names == ["begin", "wait", "wait"])
        let (left, again) = (state.leave(2), state.leave(2))
        #expect(left && !again)
        let woken = state.end(.renewed)
        #expect(woken == [1, 3])
        #expect(!state.isRefreshing)
    }

    @Test func lateRefusalTakesTheLatestOutcome() {
        var state = CredentialRefreshState()
        _ = state.refused(inRound: 0, waiter: 1)
        _ = state.end(.renewed)
        let names = [(0, 2), (1, 3), (0, 4)].map {
            name(state.refused(inRound: $0.0, waiter: $0.1))
        }
        #expect(names == ["renewed", "begin", "renewed"])
        _ = state.end(.failed(.cancelled))
        let later = [(1, 5), (2, 6)].map { name(state.refused(inRound: $0.0, waiter: $0.1)) }
        #expect(later == ["failed", "begin"])
    }
}
