import ErrandCore
import ErrandCurl
import Testing

/// Every order of events leads to exactly one end, and to nothing after it.
struct TransferStateTests {
    /// All events of a transfer.
    enum Event: CaseIterable {
        case begin, cancel, shutDown, timeOut, abort, pause, resume, complete, fail, drained
        case drainedWithError
    }

    private static func apply(
        _ event: Event, to state: inout TransferState
    ) -> TransferState.Action {
        switch event {
        case .begin: return state.begin()
        case .cancel: return state.stop(.cancelled)
        case .shutDown: return state.stop(.shutDown)
        case .timeOut: return state.stop(.timedOut(.idle))
        case .abort:
            state.abort(.failed)
            return .nothing
        case .pause:
            state.pause()
            return .nothing
        case .resume: return state.resume()
        case .complete: return state.finished(complete: true)
        case .fail: return state.finished(complete: false)
        case .drained: return state.drained(complete: true)
        case .drainedWithError: return state.drained(complete: false)
        }
    }

    private static func isEnd(_ action: TransferState.Action) -> Bool {
        switch action {
        case .end, .detachAndEnd: true
        default: false
        }
    }

    /// All sequences of this length, enumerated in base `allCases.count`.
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
                if wasEnded, action != .nothing || state.mayCallReceiver {
                    Issue.record("after the end, \(event) led to \(action) in order \(number)")
                }
                if Self.isEnd(action) { ends += 1 }
            }
            if ends > 1 { Issue.record("\(ends) ends in order \(number)") }
            // Stopping ends the transfer unless it has already ended.
            if Self.isEnd(state.stop(.cancelled)) == (ends > 0) {
                Issue.record("stop did not end the transfer in order \(number)")
            }
            number += step
        }
    }

    @Test func completeResponse() {
        var state = TransferState()
        #expect(!state.mayCallReceiver)
        #expect(state.begin() == .begin)
        #expect(state.mayCallReceiver)
        #expect(state.finished(complete: true) == .drain)
        #expect(state.drained(complete: true) == .end(.complete))
        #expect(!state.mayCallReceiver)
    }

    @Test func cancelBeforeBegin() {
        var state = TransferState()
        #expect(state.stop(.cancelled) == .end(.cancelled))
        #expect(state.begin() == .nothing)
    }

    @Test func firstAbortReasonIsKept() {
        var state = TransferState()
        _ = state.begin()
        state.abort(.failed)
        state.abort(.cancelled)
        #expect(state.isAborting)
        #expect(state.finished(complete: false) == .end(.failed))
        #expect(state.stop(.cancelled) == .nothing)
    }

    @Test func stopAfterAbortDetachesHandle() {
        var state = TransferState()
        _ = state.begin()
        state.abort(.failed)
        #expect(state.stop(.timedOut(.idle)) == .detachAndEnd(.failed))
    }

    @Test func completionWaitsForPausedReceiver() {
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

    @Test func failureDoesNotWaitForPausedReceiver() {
        var state = TransferState()
        _ = state.begin()
        state.pause()
        #expect(state.finished(complete: false) == .end(.failed))
    }

    @Test func resumeUnpausesOnce() {
        var state = TransferState()
        _ = state.begin()
        #expect(state.resume() == .nothing)
        state.pause()
        #expect(state.resume() == .unpause)
        #expect(state.resume() == .nothing)
    }

    @Test func corruptRemainderFails() {
        var state = TransferState()
        _ = state.begin()
        _ = state.finished(complete: true)
        #expect(state.drained(complete: false) == .end(.failed))
    }
}
