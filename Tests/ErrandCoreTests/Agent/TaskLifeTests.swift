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

    private func orders(of length: Int) -> [[Event]] {
        guard length > 0 else { return [[]] }
        return orders(of: length - 1).flatMap { order in Event.allCases.map { order + [$0] } }
    }
}
