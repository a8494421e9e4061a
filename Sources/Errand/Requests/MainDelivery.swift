import Synchronization

/// Brings the ends of requests to the main actor, in their order, as many in one turn as have come meanwhile.
///
/// A turn of its own for each costs a small request more than its closures do.
final class MainDelivery: Sendable {
    static let shared = MainDelivery()

    private struct State {
        var waiting: [@MainActor @Sendable () -> Void] = []
        var isUnderWay = false
    }

    private let state = Mutex(State())

    /// Calls the body on the main actor, behind those that came before.
    func deliver(_ body: @escaping @MainActor @Sendable () -> Void) {
        let isFirst = state.withLock { state in
            state.waiting.append(body)
            defer { state.isUnderWay = true }
            return !state.isUnderWay
        }
        if isFirst { Task { @MainActor in await run() } }
    }

    /// What comes while a turn lasts is left to the next, so that others have theirs in between.
    @MainActor private func run() async {
        while let turn = takeTurn() {
            for body in turn { body() }
            if isIdle() { return }
            await Task.yield()
        }
    }

    private func takeTurn() -> [@MainActor @Sendable () -> Void]? {
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
