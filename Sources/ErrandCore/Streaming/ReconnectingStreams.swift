import Synchronization

/// The event streams of an agent that connect again after the end of a connection.
///
/// Between two connections a stream has no task, so that cancelling all tasks would not end it.
package final class ReconnectingStreams<Owner: Sendable>: Sendable {
    /// A stream, from its first read until the entry is released.
    package final class Entry: Sendable {
        /// Cancelled together with the tasks of the agent.
        package let scope = CancellationScope()
        private let id: Int
        private let table: ReconnectingStreams

        fileprivate init(_ owner: Owner, in table: ReconnectingStreams) {
            self.table = table
            let scope = scope
            id = table.state.withLock { state in
                state.nextID += 1
                state.streams[state.nextID] = (owner, scope)
                return state.nextID
            }
        }

        /// Waits between two connections; returns false if the agent has cancelled its tasks, or the Swift task is cancelled.
        package nonisolated(nonsending) func sleep(
            for delay: Duration, on clock: any RequestClock
        ) async -> Bool {
            let sleep = Task { try await clock.sleep(for: delay) }
            let result = await withTaskCancellationHandler {
                await scope.wait {
                    await sleep.result
                } onCancel: {
                    sleep.cancel()
                }
            } onCancel: {
                sleep.cancel()
            }
            if case .success = result { return true }
            return false
        }

        deinit {
            // Released outside the lock: the owner may hold the last reference to user objects.
            let stream = table.state.withLock { $0.streams.removeValue(forKey: id) }
            withExtendedLifetime(stream) {}
        }
    }

    private struct State {
        var nextID = 0
        var streams: [Int: (owner: Owner, scope: CancellationScope)] = [:]
    }

    private let state = Mutex(State())

    package init() {}

    /// Adds a stream with the task of its first connection.
    package func add(_ owner: Owner) -> Entry { Entry(owner, in: self) }

    /// Cancels the scopes of the streams whose first task the predicate accepts; it is called without a lock.
    package func cancel(where predicate: (Owner) -> Bool = { _ in true }) {
        let streams = state.withLock { Array($0.streams.values) }
        for stream in streams where predicate(stream.owner) { stream.scope.cancel() }
    }
}
