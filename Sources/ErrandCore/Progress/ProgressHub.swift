import Synchronization

/// Holds a task's progress and hands it to whoever listens.
package final class ProgressHub: Sendable {
    private struct State {
        var progress = TransferProgress()
        var isFinished = false
        var nextID = 0
        var listeners: [Int: AsyncStream<TransferProgress>.Continuation] = [:]
        var mirrors: [Int: ProgressHub] = [:]
    }

    private let state = Mutex(State())

    package init() {}

    package var current: TransferProgress { state.withLock { $0.progress } }

    /// Changes the progress and tells the listeners, in the order of the changes: yielding under the lock
    /// is safe, since a stream that keeps only the newest value never runs anybody's code.
    package func update(_ change: (inout TransferProgress) -> Void) {
        state.withLock { state in
            change(&state.progress)
            for listener in state.listeners.values { listener.yield(state.progress) }
            for mirror in state.mirrors.values { mirror.update { $0 = state.progress } }
        }
    }

    /// Passes every value on to another hub, beginning with the present one; locks nest in this direction
    /// only.
    func mirror(into other: ProgressHub, id: Int) {
        state.withLock { state in
            state.mirrors[id] = other
            let progress = state.progress
            other.update { $0 = progress }
        }
    }

    func endMirror(_ id: Int) {
        state.withLock { $0.mirrors[id] = nil }
    }

    /// No more changes come; the last value stays in each stream until it is read.
    package func finish() {
        let listeners = state.withLock { state in
            state.isFinished = true
            defer { state.listeners = [:] }
            return state.listeners.values.map { $0 }
        }
        for listener in listeners { listener.finish() }
    }

    package func subscribe() -> AsyncStream<TransferProgress> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: TransferProgress.self, bufferingPolicy: .bufferingNewest(1))
        let id = state.withLock { state -> Int? in
            continuation.yield(state.progress)
            guard !state.isFinished else { return nil }
            state.nextID += 1
            state.listeners[state.nextID] = continuation
            return state.nextID
        }
        guard let id else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.listeners.removeValue(forKey: id) }
        }
        return stream
    }
}
