import Testing

@testable import ErrandCore

@Suite struct RefreshRoundsTests {
    private func name(_ action: RefreshRounds.Action) -> String {
        switch action {
        case .begin: "begin"
        case .wait: "wait"
        case .take(.renewed): "renewed"
        case .take(.nothing): "nothing"
        case .take(.failed): "failed"
        }
    }

    @Test func oneBeginsAndTheOthersWait() {
        var rounds = RefreshRounds()
        var names: [String] = []
        for waiter in 1...3 { names.append(name(rounds.refused(inRound: 0, waiter: waiter))) }
        #expect(names == ["begin", "wait", "wait"])
        let (left, again) = (rounds.leave(2), rounds.leave(2))
        #expect(left && !again)
        let woken = rounds.end(.renewed)
        #expect(woken == [1, 3])
        #expect(!rounds.isRefreshing)
    }

    @Test func whoComesLateTakesWhatHasCome() {
        var rounds = RefreshRounds()
        _ = rounds.refused(inRound: 0, waiter: 1)
        _ = rounds.end(.renewed)
        let names = [(0, 2), (1, 3), (0, 4)].map {
            name(rounds.refused(inRound: $0.0, waiter: $0.1))
        }
        #expect(names == ["renewed", "begin", "renewed"])
        _ = rounds.end(.failed(.cancelled))
        let later = [(1, 5), (2, 6)].map { name(rounds.refused(inRound: $0.0, waiter: $0.1)) }
        #expect(later == ["failed", "begin"])
    }
}
