package import ErrandSystem
import Synchronization

/// Cancels the tasks that are bound to it when it is deallocated.
///
/// Store one in the object that uses the responses, for example a view model.
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

    /// The number of bound tasks that have not ended.
    public var count: Int { cancels.withLock { $0.count } }

    /// Cancels every bound task that has not ended.
    public func cancelAll() {
        for cancel in cancels.withLock({ Array($0.values) }) { cancel() }
    }

    /// Adds a cancel action until ``forget(_:)``.
    package func add(_ id: UUID, cancel: @escaping @Sendable () -> Void) {
        cancels.withLock { $0[id] = cancel }
    }

    package func forget(_ id: UUID) {
        // Removed under the lock, but released outside it: a task may hold the last reference to objects of users.
        let cancel = cancels.withLock { $0.removeValue(forKey: id) }
        withExtendedLifetime(cancel) {}
    }
}
