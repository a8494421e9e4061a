import ErrandCore
import Synchronization

/// Delivers the ends of requests on the main actor, in order, several in one turn.
///
/// A separate turn for each end costs a small request more than its closures do.
final class MainDelivery: Sendable {
    static let shared = MainDelivery()

    /// An outcome and the function that delivers it.
    private struct Delivery {
        let task: RequestTask
        let outcome: TaskOutcome
        let handler: @MainActor (TaskOutcome) -> Void
    }

    private struct State {
        var waiting: [Delivery] = []
        var isUnderWay = false
    }

    private let state = Mutex(State())

    /// Delivers an outcome on the main actor, after the ones before it.
    ///
    /// Keeps the task until then: releasing its memory on the thread that allocated it is cheaper.
    func deliver(
        _ outcome: TaskOutcome, of task: RequestTask,
        to handler: @escaping @MainActor (TaskOutcome) -> Void
    ) {
        let isFirst = state.withLock { state in
            state.waiting.append(Delivery(task: task, outcome: outcome, handler: handler))
            defer { state.isUnderWay = true }
            return !state.isUnderWay
        }
        if isFirst { Task { @MainActor in await run() } }
    }

    /// Leaves outcomes that arrive during a turn to the next one, so that other work of the main actor runs in
    /// between.
    @MainActor private func run() async {
        while let turn = takeTurn() {
            for delivery in turn { delivery.handler(delivery.outcome) }
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
