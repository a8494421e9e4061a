import Foundation
import Synchronization

/// Keeps tasks from outliving what they are for: when it goes, the tasks bound to it are cancelled.
///
/// Store one in the object that the requests belong to.
///
///     final class UserModel {
///         private let requests = RequestOwner()
///         func load() { GetUser(id: 7).start { … }.bind(to: requests) }
///     }
public final class RequestOwner: Sendable {
    private let tasks = Mutex<[UUID: RequestTask]>([:])

    /// Makes an owner without tasks.
    public init() {}

    deinit { cancelAll() }

    /// How many tasks that have not ended are bound to it.
    public var count: Int { tasks.withLock { $0.count } }

    /// Cancels every task that is bound to it and has not ended.
    public func cancelAll() {
        for task in tasks.withLock({ Array($0.values) }) { task.cancel() }
    }

    fileprivate func add(_ task: RequestTask) {
        tasks.withLock { $0[task.id] = task }
        let isUnderWay = task.observe { [weak self, id = task.id] change in
            if change == .ended { self?.forget(id) }
        }
        if !isUnderWay { forget(task.id) }
    }

    private func forget(_ id: UUID) {
        // Taken out under the lock, let go outside it: a task may hold the last reference to much.
        let task = tasks.withLock { $0.removeValue(forKey: id) }
        withExtendedLifetime(task) {}
    }
}

extension RequestTask {
    /// Cancels the task when the owner goes, unless it has ended by then.
    ///
    /// The owner is not kept alive.
    @discardableResult
    public func bind(to owner: RequestOwner) -> RequestTask {
        owner.add(self)
        return self
    }
}
