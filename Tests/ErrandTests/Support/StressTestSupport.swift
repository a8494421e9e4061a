import Errand
import Foundation
import Synchronization

/// Counts the `ended` events of each task.
final class EndCounter: RequestEventListener {
    private let ends = Mutex<[UUID: Int]>([:])

    /// The number of tasks that have ended.
    var count: Int { ends.withLock { $0.count } }
    /// The number of tasks with more than one `ended` event.
    var endedTwice: Int { ends.withLock { $0.values.count { $0 > 1 } } }

    func handle(_ event: RequestEvent) {
        if case .ended = event.kind { ends.withLock { $0[event.taskID, default: 0] += 1 } }
    }
}

/// Counts results by kind: success, cancellation, and other failures.
final class ResultTally: Sendable {
    struct Counts {
        var succeeded = 0
        var cancelled = 0
        var failures: [String] = []
    }

    private let storage = Mutex(Counts())

    var counts: Counts { storage.withLock { $0 } }

    func add(_ result: Result<Response, RequestError>) {
        storage.withLock { counts in
            switch result {
            case .success: counts.succeeded += 1
            case .failure(let error) where error.isCancellation: counts.cancelled += 1
            case .failure(let error): counts.failures.append("\(error)")
            }
        }
    }

    func add(failure: String) { storage.withLock { $0.failures.append(failure) } }
}
