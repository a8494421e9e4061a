import Testing

@testable import ErrandCore

@Suite struct TaskStateTests {
    private enum Event: CaseIterable { case cancel, deadline, shutDown, end }

    @Test func workIsCancelledAtMostOnceForEveryEventOrder() {
        for length in 0...5 {
            for events in sequences(of: Event.allCases, length: length) {
                var taskState = TaskState()
                var cancels = 0
                var firstStop: TaskState.StopReason?
                var ended = false
                for event in events {
                    let reason: TaskState.StopReason
                    switch event {
                    case .cancel: reason = .cancelled
                    case .deadline: reason = .deadline
                    case .shutDown: reason = .shutDown
                    case .end:
                        let stopReason = taskState.end()
                        #expect(stopReason == (ended ? nil : firstStop))
                        ended = true
                        continue
                    }
                    let isFirst = taskState.stop(reason)
                    #expect(isFirst == (firstStop == nil && !ended))
                    if isFirst {
                        cancels += 1
                        firstStop = reason
                    }
                }
                #expect(cancels <= 1)
                #expect(taskState.hasEnded == ended)
            }
        }
    }

    private static let stages: [TaskStage] = [
        .described, .adapting, .waiting, .inFlight(attempt: 1), .inFlight(attempt: 2), .processing,
    ]

    /// All pairs of stages: which stage may follow which.
    @Test func stagesGoForwardOnly() {
        // Rows: from; columns: to, in the order of `stages`.
        let table = [
            "-yyyy-",  // described
            "--yyyy",  // adapting
            "---yyy",  // waiting
            "--y-yy",  // in flight, first attempt
            "--y--y",  // in flight, second attempt
            "------",  // processing
        ]
        for (from, row) in zip(Self.stages, table) {
            for (to, mark) in zip(Self.stages, row) {
                #expect(to.mayFollow(from) == (mark == "y"), "\(from) to \(to)")
            }
        }
    }

    /// Every state that transitions can reach, up to two attempts and with a very large attempt number.
    private static var reachableStates: [TaskState] {
        var states: [TaskState] = [TaskState()]
        for stage in stages + [.inFlight(attempt: 1_000_000)] {
            var state = TaskState()
            if state.enter(stage) { states.append(state) }
        }
        for state in states {
            var suspended = state
            if suspended.suspend() { states.append(suspended) }
        }
        for state in states {
            for reason in [TaskState.StopReason.cancelled, .deadline, .shutDown] {
                var stopping = state
                if stopping.stop(reason) { states.append(stopping) }
            }
        }
        for state in states {
            var ended = state
            _ = ended.end()
            states.append(ended)
        }
        return states
    }

    @Test func atomicStateReturnsEveryStateThatIsStored() {
        let states = Self.reachableStates
        #expect(states.count > 60)
        for state in states {
            let atomic = AtomicTaskState()
            atomic.change { $0 = state }
            #expect(atomic.value == state)
        }
    }

    @Test func suspensionAlternatesAndEndsWithTheTask() {
        var state = TaskState()
        #expect(!state.resume() && state.suspend() && !state.suspend() && state.isSuspended)
        #expect(state.resume() && !state.resume() && !state.isSuspended)
        _ = state.end()
        #expect(!state.suspend() && !state.resume() && state.phase == .ended)
    }

    /// All combinations: the phase of a task at each stage, suspended or not, stopping or ended.
    @Test func phaseDependsOnStageSuspensionAndEnd() {
        for state in Self.reachableStates {
            let expected: RequestTask.Phase
            switch (state.hasEnded, state.stopReason, state.isSuspended, state.stage) {
            case (true, _, _, _): expected = .ended
            case (_, .some, _, _): expected = .cancelling
            case (_, _, true, _): expected = .suspended
            case (_, _, _, .described): expected = .described
            case (_, _, _, .adapting): expected = .adapting
            case (_, _, _, .waiting): expected = .waiting
            case (_, _, _, .inFlight(let attempt)): expected = .inFlight(attempt: attempt)
            case (_, _, _, .processing): expected = .processing
            }
            #expect(state.phase == expected)
            let isRunning = !state.hasEnded && state.stopReason == nil && !state.isSuspended
            #expect(state.phase.isRunning == isRunning)
        }
    }
}
