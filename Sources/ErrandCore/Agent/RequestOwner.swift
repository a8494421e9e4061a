package import Foundation
import Synchronization

/// Keeps tasks from outliving what they are for: when it goes, the tasks bound to it are cancelled.
///
/// Store one in the object that the requests belong to.
///
///     final class UserModel {
///         private let requests = RequestOwner()
///         func load() { GetUser(id: 7).start(owner: requests) { … } }
///     }
public final class RequestOwner: Sendable {
    private let cancels = Mutex<[UUID: @Sendable () -> Void]>([:])

    /// Makes an owner without tasks.
    public init() {}

    deinit { cancelAll() }

    /// How many tasks that have not ended are bound to it.
    public var count: Int { cancels.withLock { $0.count } }

    /// Cancels every task that is bound to it and has not ended.
    public func cancelAll() {
        for cancel in cancels.withLock({ Array($0.values) }) { cancel() }
    }

    /// Takes something that can be cancelled until it is forgotten.
    package func add(_ id: UUID, cancel: @escaping @Sendable () -> Void) {
        cancels.withLock { $0[id] = cancel }
    }

    package func forget(_ id: UUID) {
        // Taken out under the lock, let go outside it: a task may hold the last reference to much.
        let cancel = cancels.withLock { $0.removeValue(forKey: id) }
        withExtendedLifetime(cancel) {}
    }
}

extension RequestTask {
    /// Cancels the task when the owner goes, unless it has ended by then.
    ///
    /// The owner is not kept alive.
    @discardableResult
    public func bind(to owner: RequestOwner) -> RequestTask {
        owner.add(id) { [self] in cancel() }
        let isUnderWay = observe { [weak owner, id] change in
            if change == .ended { owner?.forget(id) }
        }
        if !isUnderWay { owner.forget(id) }
        return self
    }
}
