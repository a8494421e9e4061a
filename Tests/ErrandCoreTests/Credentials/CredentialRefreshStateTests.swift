import ErrandHTTP
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
        let woken = state.end(0, .renewed)
        #expect(woken == [1, 3])
        #expect(!state.isRefreshing)
    }

    @Test func lateRefusalTakesTheLatestOutcome() {
        var state = CredentialRefreshState()
        _ = state.refused(inRound: 0, waiter: 1)
        _ = state.end(0, .renewed)
        let names = [(0, 2), (1, 3), (0, 4)].map {
            name(state.refused(inRound: $0.0, waiter: $0.1))
        }
        #expect(names == ["renewed", "begin", "renewed"])
        _ = state.end(1, .failed(.cancelled))
        let later = [(1, 5), (2, 6)].map { name(state.refused(inRound: $0.0, waiter: $0.1)) }
        #expect(later == ["failed", "begin"])
    }

    @Test func refusalAfterAnExpiredRefreshStartsANewOne() {
        var state = CredentialRefreshState()
        _ = state.refused(inRound: 0, waiter: 1)
        let failed = state.expire(0)
        #expect(failed == [1])
        let names = [(0, 2), (1, 3)].map { name(state.refused(inRound: $0.0, waiter: $0.1)) }
        #expect(names == ["begin", "wait"])
        let woken = state.end(0, .renewed)
        #expect(woken.isEmpty, "the late result of the expired refresh")
        #expect(state.isRefreshing)
        let renewed = state.end(1, .renewed)
        #expect(renewed == [2, 3])
    }

    /// A scope that was removed and is used again.
    @Test func lateResultOfARemovedStateEndsNoRefreshOfALaterOne() {
        var first = CredentialRefreshState()
        _ = first.refused(inRound: 0, waiter: 1)
        _ = first.expire(0)
        var state = CredentialRefreshState(round: first.round)
        #expect(name(state.refused(inRound: 0, waiter: 2)) == "begin")
        #expect(state.end(0, .renewed).isEmpty)
        #expect(state.end(1, .renewed) == [2])
    }

    /// An event of the state machine; the round of a refusal and the number of a refresh count back
    /// from the current ones.
    private enum Event: CaseIterable {
        case refusedNow, refusedBefore, firstLeaves, ends, earlierEnds, expires, earlierExpires
    }

    /// A model that counts how often each waiter is resumed.
    private struct Model {
        var state = CredentialRefreshState()
        var waiting: Set<Int> = []
        var begun: Set<Int> = []
        var nextWaiter = 0

        mutating func apply(_ event: Event) {
            switch event {
            case .refusedNow: refuse(state.round)
            case .refusedBefore: refuse(state.round - 1)
            case .firstLeaves:
                guard let waiter = waiting.min() else { return }
                let wasWaiting = state.leave(waiter)
                #expect(wasWaiting)
                waiting.remove(waiter)
            case .ends: resume(state.end(state.round, .renewed))
            case .expires: resume(state.expire(state.round))
            case .earlierEnds: ignore(state.end(state.round - 1, .nothing))
            case .earlierExpires: ignore(state.expire(state.round - 1))
            }
            #expect(waiting.isEmpty || state.isRefreshing, "a waiter that nothing resumes")
            #expect(state.isBusy == (state.isRefreshing || !waiting.isEmpty))
        }

        private mutating func refuse(_ round: Int) {
            nextWaiter += 1
            let wasRefreshing = state.isRefreshing
            switch state.refused(inRound: round, waiter: nextWaiter) {
            case .begin(let refresh):
                #expect(!wasRefreshing && state.isRefreshing)
                let isNew = begun.insert(refresh).inserted
                #expect(isNew, "two refreshes with one number")
                waiting.insert(nextWaiter)
            case .wait:
                #expect(wasRefreshing)
                waiting.insert(nextWaiter)
            case .take: #expect(round < state.round)
            }
        }

        private func ignore(_ resumed: Set<Int>) { #expect(resumed.isEmpty) }

        private mutating func resume(_ resumed: Set<Int>) {
            #expect(resumed == waiting)
            #expect(!state.isRefreshing)
            waiting = []
        }
    }

    @Test func everyOrderOfEventsResumesEachWaiterOnce() {
        var models = [Model()]
        for _ in 0..<5 {
            models = models.flatMap { model in
                Event.allCases.map { event in
                    var next = model
                    next.apply(event)
                    return next
                }
            }
        }
        #expect(models.count == 16807)
    }

    @Test func cycleOfRefreshesIsFound() {
        var waits = RefreshWaits<String>()
        var results = [
            waits.add(["a"], for: "b"), waits.add(["b"], for: "c"), waits.add(["c"], for: "a"),
            waits.add(["x", "c"], for: "a"),
        ]
        #expect(results == [true, true, false, false])
        results = [waits.add(["a"], for: "c")]
        #expect(results == [true], "two ways to one refresh are no cycle")
        waits.remove(["b"], for: "c")
        results = [waits.add(["c"], for: "a")]
        waits.remove(["a"], for: "c")
        results.append(waits.add(["c"], for: "a"))
        #expect(results == [false, true])
    }
}
