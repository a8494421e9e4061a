import ErrandHTTP
import TestSupport
import Testing

@testable import ErrandCore

/// The order in which three waiters are admitted after a first request, for every order of events.
@Suite(.limited) struct TicketQueueTests {
    enum Action: Equatable {
        case enter(Int)
        case arrive(Int)
        case giveUp(Int)
        /// The admitted waiter has ended.
        case end
    }

    /// The queue, and a model of the waiters that entered, are ready, and were admitted.
    private struct Model {
        var queue = TicketQueue<Int>()
        var places: [Int: TicketQueue<Int>.Position] = [:]
        var waiting: Set<Int> = []
        var ready: Set<Int> = []
        var called: Set<Int> = []
        /// The admitted waiter: -1 is the first request, which did not wait; `nil` is none.
        var current: Int? = -1

        mutating func apply(_ action: Action) {
            switch action {
            case .enter(let waiter) where places[waiter] == nil && current != nil:
                // A higher number has a lower ticket.
                places[waiter] = queue.enter(ticket: UInt64(10 - waiter))
                waiting.insert(waiter)
            case .arrive(let waiter): arrive(waiter)
            case .giveUp(let waiter): giveUp(waiter)
            case .end where current == -1 || current.map { called.contains($0) } == true:
                admitNext()
            default: break
            }
        }

        mutating func arrive(_ waiter: Int) {
            guard let place = places[waiter], ready.insert(waiter).inserted else { return }
            switch queue.arrive(place, waiter) {
            case .called:
                #expect(current == waiter)
                called.insert(waiter)
            case .gone: #expect(!waiting.contains(waiter))
            case .waits: #expect(current != waiter && waiting.contains(waiter))
            }
        }

        mutating func giveUp(_ waiter: Int) {
            guard let place = places[waiter] else { return }
            let isCurrent = current == waiter
            switch queue.cancel(place) {
            case .waited(let call): #expect(call == waiter && !isCurrent && ready.contains(waiter))
            case .admitsNext:
                #expect(isCurrent && !called.contains(waiter))
                admitNext()
            case .ignored:
                #expect(!waiting.contains(waiter) || !ready.contains(waiter) || isCurrent)
            }
            waiting.remove(waiter)
        }

        mutating func admitNext() {
            let expected = waiting.max()
            switch queue.next() {
            case .call(let waiter):
                #expect(waiter == expected && ready.contains(waiter))
                called.insert(waiter)
            case .notReady: #expect(expected.map { !ready.contains($0) } == true)
            case .empty: #expect(expected == nil)
            }
            current = expected
            if let expected { waiting.remove(expected) }
        }
    }

    private static let actions: [Action] =
        (0..<3).flatMap { [.enter($0), .arrive($0), .giveUp($0)] } + [.end]

    @Test func lowestTicketIsAdmittedNextInEveryOrder() {
        for length in 1...6 { check(length, Model()) }
    }

    private func check(_ length: Int, _ model: Model) {
        guard length > 0 else { return }
        for action in Self.actions {
            var model = model
            model.apply(action)
            check(length - 1, model)
        }
    }

    @Test func waiterAdmittedBeforeItIsReadyKeepsItsTurn() {
        var queue = TicketQueue<String>()
        let early = queue.enter(ticket: 1)
        let late = queue.enter(ticket: 2)
        #expect(queue.arrive(late, "late") == .waits)
        guard case .notReady = queue.next() else {
            Issue.record("Another waiter was admitted.")
            return
        }
        #expect(queue.arrive(early, "early") == .called)
        guard case .call("late") = queue.next() else {
            Issue.record("The later waiter was lost.")
            return
        }
    }

    @Test func waiterThatGivesUpItsTurnAdmitsTheNext() {
        var queue = TicketQueue<String>()
        let early = queue.enter(ticket: 1)
        let late = queue.enter(ticket: 2)
        _ = queue.arrive(late, "late")
        _ = queue.next()
        guard case .admitsNext = queue.cancel(early), case .call("late") = queue.next() else {
            Issue.record("The later waiter was not admitted.")
            return
        }
        #expect(queue.arrive(early, "early") == .gone)
    }
}
