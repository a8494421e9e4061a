import Synchronization

/// State under a lock that tasks can wait on.
///
/// Every change evaluates the conditions of all waiters.
final class Watched<State: Sendable>: Sendable {
    private struct Waiter {
        var id: UInt64
        /// Evaluates the waiter's condition; returns its resumption, or `nil` if it does not hold yet.
        var attempt: @Sendable (inout State) -> (@Sendable () -> Void)?
        var cancel: @Sendable () -> Void
    }

    private struct Inner {
        var state: State
        var waiters: [Waiter] = []
        /// Waiters that were cancelled before they were added to the list.
        var cancelled: Set<UInt64> = []
        var nextID: UInt64 = 0
    }

    private let inner: Mutex<Inner>

    init(_ state: State) {
        inner = Mutex(Inner(state: state))
    }

    /// Reads or changes the state, then wakes the waiters whose condition holds.
    @discardableResult
    func change<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        let (result, wakeUps) = inner.withLock { inner in
            let result = body(&inner.state)
            return (result, Self.settle(&inner))
        }
        for wakeUp in wakeUps { wakeUp() }
        return result
    }

    /// Waits until `take` returns a value.
    ///
    /// `take` runs under the lock, after every change.
    ///
    /// Throws `CancellationError` if the waiting task is cancelled first.
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
                // The waiter was resumed already, or is not in the list yet.
                inner.cancelled.insert(id)
                return nil
            }
            return inner.waiters.remove(at: index)
        }
        waiter?.cancel()
    }

    /// Removes the waiters whose condition holds, in order of arrival, and returns their resumptions.
    ///
    /// `take` may change the state, so after each removal all remaining conditions are evaluated again.
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
