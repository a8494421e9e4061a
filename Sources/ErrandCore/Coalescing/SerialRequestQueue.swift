import ErrandHTTP
import Synchronization

/// Runs requests with the same key one at a time, in the order of their tickets.
package final class SerialRequestQueue<Key: Hashable & Sendable>: Sendable {
    private typealias Queue = TicketQueue<CheckedContinuation<Bool, Never>>

    /// A queue exists while a request with its key runs.
    private let queues = Mutex<[Key: Queue]>([:])

    package init() {}

    /// Waits until the request may run.
    ///
    /// - Parameters:
    ///   - ticket: Requests with lower tickets run first.
    ///   - onWait: Called if the request has to wait.
    /// - Returns: True if the request may run and must call ``leave(_:)``; false if the scope was cancelled.
    package func enter(
        _ key: Key, ticket: UInt64, _ scope: CancellationScope, onWait: () -> Void
    ) async -> Bool {
        let position = queues.withLock { queues -> Queue.Position? in
            guard queues[key] != nil else {
                queues[key] = Queue()
                return nil
            }
            return queues[key]?.enter(ticket: ticket)
        }
        guard let position else { return true }
        onWait()
        return await scope.wait {
            await withCheckedContinuation { call in
                switch queues.withLock({ $0[key]?.arrive(position, call) ?? .gone }) {
                case .waits: break
                case .called: call.resume(returning: true)
                case .gone: call.resume(returning: false)
                }
            }
        } onCancel: {
            switch self.queues.withLock({ $0[key]?.cancel(position) ?? .ignored }) {
            case .waited(let call): call.resume(returning: false)
            case .admitsNext: self.leave(key)
            case .ignored: break
            }
        }
    }

    /// Ends the turn of the running request and resumes the next one.
    package func leave(_ key: Key) {
        let admission = queues.withLock { queues in
            let admission = queues[key]?.next() ?? .empty
            if case .empty = admission { queues[key] = nil }
            return admission
        }
        if case .call(let call) = admission { call.resume(returning: true) }
    }
}

extension Optional {
    /// The queue, which is created when it is first needed.
    ///
    /// The class of a queue depends on the conformance of its key, and the first search for a conformance costs a
    /// large part of the first request of a process.
    package mutating func whenNeeded<Key>() -> Wrapped where Wrapped == SerialRequestQueue<Key> {
        if let queue = self { return queue }
        let queue = SerialRequestQueue<Key>()
        self = queue
        return queue
    }
}
