import ErrandCore
import ErrandCurl
import Testing

/// Every order of events leads to exactly one end and to nothing after it.
struct TransferStateTests {
    /// Everything that can happen, as seen from outside.
    enum Event: CaseIterable {
        case begin, cancel, shutDown, timeOut, giveUp, pause, resume, complete, fail, drained
        case drainedBadly
    }

    private static func apply(
        _ event: Event, to state: inout TransferState
    ) -> TransferState.Action {
        switch event {
        case .begin: return state.begin()
        case .cancel: return state.stop(.cancelled)
        case .shutDown: return state.stop(.shutDown)
        case .timeOut: return state.stop(.timedOut(.idle))
        case .giveUp:
            state.abort(.failed)
            return .nothing
        case .pause:
            state.pause()
            return .nothing
        case .resume: return state.resume()
        case .complete: return state.finished(complete: true)
        case .fail: return state.finished(complete: false)
        case .drained: return state.drained(complete: true)
        case .drainedBadly: return state.drained(complete: false)
        }
    }

    private static func isEnd(_ action: TransferState.Action) -> Bool {
        switch action {
        case .end, .detachAndEnd: true
        default: false
        }
    }

    /// All sequences of a length, by counting in base `allCases.count`.
    @Test(arguments: [5, 6])
    func everyOrderEndsAtMostOnce(length: Int) {
        let events = Event.allCases
        var total = 1
        for _ in 0..<length { total *= events.count }
        let step = length == 6 ? 7 : 1
        var number = 0
        while number < total {
            var state = TransferState()
            var rest = number
            var ends = 0
            for _ in 0..<length {
                let event = events[rest % events.count]
                rest /= events.count
                let wasEnded = ends > 0
                let action = Self.apply(event, to: &state)
                if wasEnded, action != .nothing || state.isLive {
                    Issue.record("after the end, \(event) led to \(action) in order \(number)")
                }
                if Self.isEnd(action) { ends += 1 }
            }
            if ends > 1 { Issue.record("\(ends) ends in order \(number)") }
            // Whatever has happened, stopping leads to an end unless there was one.
            if Self.isEnd(state.stop(.cancelled)) == (ends > 0) {
                Issue.record("no way out of order \(number)")
            }
            number += step
        }
    }

    @Test func completeAnswer() {
        var state = TransferState()
        #expect(!state.isLive)
        #expect(state.begin() == .begin)
        #expect(state.isLive)
        #expect(state.finished(complete: true) == .drain)
        #expect(state.drained(complete: true) == .end(.complete))
        #expect(!state.isLive)
    }

    @Test func cancelBeforeTheLoopHasSeenIt() {
        var state = TransferState()
        #expect(state.stop(.cancelled) == .end(.cancelled))
        #expect(state.begin() == .nothing)
    }

    @Test func firstReasonStays() {
        var state = TransferState()
        _ = state.begin()
        state.abort(.failed)
        state.abort(.cancelled)
        #expect(state.isAborting)
        #expect(state.finished(complete: false) == .end(.failed))
        #expect(state.stop(.cancelled) == .nothing)
    }

    @Test func stopWhileACallbackHasGivenUpTakesTheHandleBack() {
        var state = TransferState()
        _ = state.begin()
        state.abort(.failed)
        #expect(state.stop(.timedOut(.idle)) == .detachAndEnd(.failed))
    }

    @Test func endWaitsForAPausedReceiver() {
        var state = TransferState()
        _ = state.begin()
        state.pause()
        #expect(state.finished(complete: true) == .nothing)
        #expect(state.isPaused)
        #expect(state.resume() == .drain)
        state.pause()
        #expect(state.drained(complete: true) == .nothing)
        #expect(state.resume() == .drain)
        #expect(state.drained(complete: true) == .end(.complete))
    }

    @Test func failureDoesNotWaitForAPausedReceiver() {
        var state = TransferState()
        _ = state.begin()
        state.pause()
        #expect(state.finished(complete: false) == .end(.failed))
    }

    @Test func unpausingGoesToLibcurlOnce() {
        var state = TransferState()
        _ = state.begin()
        #expect(state.resume() == .nothing)
        state.pause()
        #expect(state.resume() == .unpause)
        #expect(state.resume() == .nothing)
    }

    @Test func corruptRestFails() {
        var state = TransferState()
        _ = state.begin()
        _ = state.finished(complete: true)
        #expect(state.drained(complete: false) == .end(.failed))
    }
}
