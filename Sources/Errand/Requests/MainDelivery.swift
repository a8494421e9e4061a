import ErrandCore
import Synchronization

/// Brings the ends of requests to the main actor, in their order, as many in one turn as have come meanwhile.
///
/// A turn of its own for each costs a small request more than its closures do.
final class MainDelivery: Sendable {
    static let shared = MainDelivery()

    /// An end, and who is told of it.
    private struct Delivery {
        let task: RequestTask
        let outcome: TaskOutcome
        let tell: @MainActor (TaskOutcome) -> Void
    }

    private struct State {
        var waiting: [Delivery] = []
        var isUnderWay = false
    }

    private let state = Mutex(State())

    /// Tells of an end on the main actor, behind those that came before.
    ///
    /// The task is kept until then: its memory is given back on the thread that took it, which is cheaper.
    func deliver(
        _ outcome: TaskOutcome, of task: RequestTask,
        to tell: @escaping @MainActor (TaskOutcome) -> Void
    ) {
        let isFirst = state.withLock { state in
            state.waiting.append(Delivery(task: task, outcome: outcome, tell: tell))
            defer { state.isUnderWay = true }
            return !state.isUnderWay
        }
        if isFirst { Task { @MainActor in await run() } }
    }

    /// What comes while a turn lasts is left to the next, so that others have theirs in between.
    @MainActor private func run() async {
        while let turn = takeTurn() {
            for delivery in turn { delivery.tell(delivery.outcome) }
            if isIdle() { return }
            await Task.yield()
        }
    }

    private func takeTurn() -> [Delivery]? {
        state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting.isEmpty ? nil : state.waiting
        }
    }

    private func isIdle() -> Bool {
        state.withLock { state in
            state.isUnderWay = !state.waiting.isEmpty
            return !state.isUnderWay
        }
    }
}
