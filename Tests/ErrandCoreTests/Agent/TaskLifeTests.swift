import Testing

@testable import ErrandCore

@Suite struct TaskLifeTests {
    private enum Event: CaseIterable { case cancel, deadline, shutDown, end }

    @Test func workIsCancelledAtMostOnceInEveryOrderOfEvents() {
        for length in 0...5 {
            for events in orders(of: length) {
                var life = TaskLife()
                var cancels = 0
                var firstStop: TaskLife.StopReason?
                var ended = false
                for event in events {
                    let reason: TaskLife.StopReason
                    switch event {
                    case .cancel: reason = .cancelled
                    case .deadline: reason = .deadline
                    case .shutDown: reason = .shutDown
                    case .end:
                        let told = life.end()
                        #expect(told == (ended ? nil : firstStop))
                        ended = true
                        continue
                    }
                    let action = life.stop(reason)
                    #expect((action == .cancelWork) == (firstStop == nil && !ended))
                    if action == .cancelWork {
                        cancels += 1
                        firstStop = reason
                    }
                }
                #expect(cancels <= 1)
                #expect((life.state == .ended) == ended)
            }
        }
    }

    private static let stages: [TaskStage] = [
        .described, .adapting, .waiting, .inFlight(attempt: 1), .inFlight(attempt: 2), .processing,
    ]

    /// The whole table: which stage may come after which.
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

    @Test func aStageIsOneWordAndBack() {
        for stage in Self.stages + [.inFlight(attempt: 1_000_000)] {
            #expect(TaskStage(word: stage.word) == stage)
        }
    }

    /// The whole table: what a task shows at each stage, suspended or not, stopped or ended.
    @Test func whatIsShownFollowsFromStageAndState() {
        let running: [RequestTask.Phase] = [
            .described, .adapting, .waiting, .inFlight(attempt: 1), .inFlight(attempt: 2),
            .processing,
        ]
        let reasons = [TaskLife.StopReason.cancelled, .deadline, .shutDown]
        for (stage, phase) in zip(Self.stages, running) {
            for isSuspended in [false, true] {
                var life = TaskLife()
                #expect(
                    life.phase(at: stage, isSuspended: isSuspended)
                        == (isSuspended ? .suspended : phase))
                #expect(phase.isRunning)
                for reason in reasons {
                    var stopping = life
                    _ = stopping.stop(reason)
                    #expect(stopping.phase(at: stage, isSuspended: isSuspended) == .cancelling)
                    _ = stopping.end()
                    #expect(stopping.phase(at: stage, isSuspended: isSuspended) == .ended)
                }
                _ = life.end()
                #expect(life.phase(at: stage, isSuspended: isSuspended) == .ended)
            }
        }
    }

    private func orders(of length: Int) -> [[Event]] {
        guard length > 0 else { return [[]] }
        return orders(of: length - 1).flatMap { order in Event.allCases.map { order + [$0] } }
    }
}
