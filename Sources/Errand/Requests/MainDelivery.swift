import ErrandCore
import Synchronization

/// Delivers the ends of requests on the main actor, in order, several in one turn.
///
/// A separate turn for each end costs a small request more than its closures do.
final class MainDelivery: Sendable {
    static let shared = MainDelivery()

    /// An outcome and the function that delivers it.
    private struct Delivery {
        let outcome: TaskOutcome
        let handler: @MainActor (TaskOutcome) -> Void

        @MainActor func perform() { handler(outcome) }
    }

    /// The number of deliveries whose memory is kept for the next turn.
    private static let keptCapacity = 256

    private struct State {
        /// Optional, because taking a delivery out of the array needs no retain and no release; copying it does.
        var waiting: [Delivery?] = []
        var isUnderWay = false
    }

    private let state = Mutex(State())

    /// Delivers an outcome on the main actor, after the ones before it.
    func deliver(_ outcome: TaskOutcome, to handler: @escaping @MainActor (TaskOutcome) -> Void) {
        let isFirst = state.withLock { state in
            state.waiting.append(Delivery(outcome: outcome, handler: handler))
            defer { state.isUnderWay = true }
            return !state.isUnderWay
        }
        if isFirst { Task { @MainActor in await run() } }
    }

    /// Leaves outcomes that arrive during a turn to the next one, so that other work of the main actor runs in
    /// between.
    @MainActor private func run() async {
        var turn: [Delivery?] = []
        while takeTurn(&turn) {
            for index in turn.indices { turn[index].take()?.perform() }
            turn.removeAll(keepingCapacity: turn.capacity <= Self.keptCapacity)
            if isIdle(&turn) { return }
            await Task.yield()
        }
    }

    /// Exchanges the waiting outcomes for an empty turn; returns whether there are any.
    private func takeTurn(_ turn: inout [Delivery?]) -> Bool {
        state.withLock { state in swap(&state.waiting, &turn) }
        return !turn.isEmpty
    }

    /// Ends the delivery, and keeps the memory of the empty turn, unless outcomes are waiting.
    private func isIdle(_ turn: inout [Delivery?]) -> Bool {
        state.withLock { state in
            state.isUnderWay = !state.waiting.isEmpty
            if !state.isUnderWay { swap(&state.waiting, &turn) }
            return !state.isUnderWay
        }
    }
}
