import ErrandHTTP
import Synchronization

/// Cancels a unit of work: a task's steps, one shared transfer, or one attempt with a time limit.
///
/// Steps run in the Swift task of their caller and must not cancel it, so they observe cancellation
/// only through the scope: each wait registers a handler, or runs in a Swift task of its own.
package final class CancellationScope: Sendable {
    /// The reason for a cancellation.
    package enum Reason: Sendable, Hashable {
        case cancelled
        /// An attempt exceeded its time limit.
        case tooLate
    }

    private struct State {
        var reason: Reason?
        var nextID = 0
        /// There is rarely more than one waiter; `others` then stays empty.
        var first: Waiter?
        var others: [Int: Waiter] = [:]

        mutating func takeWaiters() -> [Waiter] {
            let first = first.take()
            return (first.map { [$0] } ?? []) + exchange(&others, with: [:]).values
        }
    }

    private struct Waiter {
        let id: Int
        let handler: @Sendable () -> Void
    }

    private let state = Mutex(State())

    package init() {}

    package var isCancelled: Bool { reason != nil }

    /// The reason for the cancellation; the first one counts.
    ///
    /// `nil` if the scope is not cancelled.
    package var reason: Reason? { state.withLock { $0.reason } }

    /// Throws ``RequestError/cancelled`` when the scope is cancelled.
    package func check() throws(RequestError) {
        if isCancelled { throw .cancelled }
    }

    /// Calls every registered handler once; handlers registered later are called at once.
    package func cancel(_ reason: Reason = .cancelled) {
        let waiters = state.withLock { state in
            if state.reason == nil { state.reason = reason }
            return state.takeWaiters()
        }
        for waiter in waiters { waiter.handler() }
    }

    /// Runs the operation; calls the handler, on any thread, if the scope is or becomes cancelled.
    package func wait<Value>(
        for operation: () async -> Value, onCancel handler: @escaping @Sendable () -> Void
    ) async -> Value {
        let entry = enter(onCancel: handler)
        let value = await operation()
        leave(entry)
        return value
    }

    /// Runs an operation in a Swift task of its own, which is cancelled together with the scope.
    ///
    /// For operations that end only on task cancellation: sleeping, and hooks.
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

    /// Calls the body with a child scope, which is cancelled with this one or by itself.
    package func withChild<Value>(_ body: (CancellationScope) async -> Value) async -> Value {
        let child = CancellationScope()
        return await wait {
            await body(child)
        } onCancel: {
            child.cancel()
        }
    }

    /// A registered handler, or none: its number is then 0.
    ///
    /// An optional would need more of the async frame (decision 10).
    package struct Entry: Sendable { fileprivate let id: Int }

    /// Registers a handler until ``leave(_:)``; if already cancelled, calls it instead.
    ///
    /// A caller that suspends itself uses this pair instead of ``wait(for:onCancel:)``, which adds
    /// an async frame.
    package func enter(onCancel handler: @escaping @Sendable () -> Void) -> Entry {
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
            return Entry(id: 0)
        }
        return Entry(id: id)
    }

    /// Removes the handler.
    package func leave(_ entry: Entry) {
        let id = entry.id
        guard id != 0 else { return }
        // Released outside the lock: a handler may hold the last reference to user objects.
        let waiter = state.withLock { state in
            state.first?.id == id ? state.first.take() : state.others.removeValue(forKey: id)
        }
        withExtendedLifetime(waiter) {}
    }
}
