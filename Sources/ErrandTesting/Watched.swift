import Synchronization

/// State behind a lock that can be waited on: every change looks whether somebody's condition now holds.
final class Watched<State: Sendable>: Sendable {
    private struct Waiter {
        var id: UInt64
        /// Takes what the waiter wants out of the state; `nil` when it is not there yet.
        var attempt: @Sendable (inout State) -> (@Sendable () -> Void)?
        var cancel: @Sendable () -> Void
    }

    private struct Inner {
        var state: State
        var waiters: [Waiter] = []
        /// Waiters that were cancelled before they were in the list.
        var cancelled: Set<UInt64> = []
        var nextID: UInt64 = 0
    }

    private let inner: Mutex<Inner>

    init(_ state: State) {
        inner = Mutex(Inner(state: state))
    }

    /// Reads or changes the state, then wakes everybody whose condition holds.
    @discardableResult
    func change<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        let (result, wakeUps) = inner.withLock { inner in
            let result = body(&inner.state)
            return (result, Self.settle(&inner))
        }
        for wakeUp in wakeUps { wakeUp() }
        return result
    }

    /// Waits until `take` returns a value; it runs under the lock, after every change.
    ///
    /// Throws `CancellationError` when the waiting task is cancelled first.
    @discardableResult
    func wait<Result: Sendable>(
        _ take: @escaping @Sendable (inout State) -> Result?
    ) async throws -> Result {
        let id = inner.withLock { inner in
            inner.nextID += 1
            return inner.nextID
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                enqueue(id, take: take, continuation)
            }
        } onCancel: {
            cancel(id)
        }
    }

    private func enqueue<Result: Sendable>(
        _ id: UInt64, take: @escaping @Sendable (inout State) -> Result?,
        _ continuation: CheckedContinuation<Result, any Error>
    ) {
        let waiter = Waiter(
            id: id,
            attempt: { state in
                guard let result = take(&state) else { return nil }
                return { continuation.resume(returning: result) }
            },
            cancel: { continuation.resume(throwing: CancellationError()) })
        let wakeUps = inner.withLock { inner in
            if inner.cancelled.remove(id) != nil { return [waiter.cancel] }
            inner.waiters.append(waiter)
            return Self.settle(&inner)
        }
        for wakeUp in wakeUps { wakeUp() }
    }

    private func cancel(_ id: UInt64) {
        let waiter = inner.withLock { inner -> Waiter? in
            guard let index = inner.waiters.firstIndex(where: { $0.id == id }) else {
                // Either it is served already, or it is about to be put in the list.
                inner.cancelled.insert(id)
                return nil
            }
            return inner.waiters.remove(at: index)
        }
        waiter?.cancel()
    }

    /// Serves waiters in the order in which they came, until nobody can be served any more: what one
    /// takes may be what another was waiting to see go.
    private static func settle(_ inner: inout Inner) -> [@Sendable () -> Void] {
        var wakeUps: [@Sendable () -> Void] = []
        var index = 0
        while index < inner.waiters.count {
            if let wakeUp = inner.waiters[index].attempt(&inner.state) {
                inner.waiters.remove(at: index)
                wakeUps.append(wakeUp)
                index = 0
            } else {
                index += 1
            }
        }
        return wakeUps
    }
}
