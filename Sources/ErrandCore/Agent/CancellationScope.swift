import Synchronization

/// What is cancelled together: the steps of one task, one shared transfer, or one attempt within its limit.
///
/// Steps run in whichever Swift task called them, which is not theirs to cancel; so they hear of cancelling here and
/// nowhere else. Everything that waits either gives a handler or runs in a task of its own.
package final class CancellationScope: Sendable {
    /// Why a scope was cancelled.
    package enum Reason: Sendable, Hashable {
        case cancelled
        /// An attempt took longer than it may.
        case tooLate
    }

    private struct State {
        var reason: Reason?
        var nextID = 0
        /// Almost always there is one who waits, and the table stays empty.
        var first: Waiter?
        var others: [Int: Waiter] = [:]

        mutating func takeWaiters() -> [Waiter] {
            let first = first.take()
            return (first.map { [$0] } ?? []) + exchange(&others, with: [:]).values
        }
    }

    /// Who waits; in a structure of its own, where a function needs no box.
    private struct Waiter {
        let id: Int
        let handler: @Sendable () -> Void
    }

    private let state = Mutex(State())

    package init() {}

    package var isCancelled: Bool { reason != nil }

    /// Why it was cancelled, where it was; the first reason counts.
    package var reason: Reason? { state.withLock { $0.reason } }

    /// Throws ``RequestError/cancelled`` when the scope is cancelled.
    package func check() throws(RequestError) {
        if isCancelled { throw .cancelled }
    }

    /// Calls every handler, once; later ones are called as they come.
    package func cancel(_ reason: Reason = .cancelled) {
        let waiters = state.withLock { state in
            if state.reason == nil { state.reason = reason }
            return state.takeWaiters()
        }
        for waiter in waiters { waiter.handler() }
    }

    /// Waits for something; cancelling the scope meanwhile, or before, calls the handler, on any thread.
    package func wait<Value>(
        for operation: () async -> Value, onCancel handler: @escaping @Sendable () -> Void
    ) async -> Value {
        let entry = enter(onCancel: handler)
        let value = await operation()
        leave(entry)
        return value
    }

    /// Runs what can only be stopped by cancelling its Swift task: sleeping, and code of users.
    package func run<Value: Sendable>(
        _ operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let work = Task { try await operation() }
        let result = await wait {
            await work.result
        } onCancel: {
            work.cancel()
        }
        return try result.get()
    }

    /// A scope that is cancelled with this one, and can be by itself.
    ///
    /// For as long as the body runs.
    package func withChild<Value>(_ body: (CancellationScope) async -> Value) async -> Value {
        let child = CancellationScope()
        return await wait {
            await body(child)
        } onCancel: {
            child.cancel()
        }
    }

    /// Somebody who waits.
    package struct Entry: Sendable { fileprivate let id: Int }

    /// Keeps the handler until ``leave(_:)``; calls it and returns `nil` where that is too late.
    ///
    /// What ``wait(for:onCancel:)`` does, for whoever wants no function in between.
    package func enter(onCancel handler: @escaping @Sendable () -> Void) -> Entry? {
        let id = state.withLock { state -> Int? in
            guard state.reason == nil else { return nil }
            state.nextID += 1
            if state.first == nil {
                state.first = Waiter(id: state.nextID, handler: handler)
            } else {
                state.others[state.nextID] = Waiter(id: state.nextID, handler: handler)
            }
            return state.nextID
        }
        guard let id else {
            handler()
            return nil
        }
        return Entry(id: id)
    }

    /// Calls the handler no more.
    package func leave(_ entry: Entry?) {
        guard let id = entry?.id else { return }
        // Let go of outside the lock: a handler may hold the last reference to much.
        let waiter = state.withLock { state in
            state.first?.id == id ? state.first.take() : state.others.removeValue(forKey: id)
        }
        withExtendedLifetime(waiter) {}
    }
}
