import Synchronization

/// The shared transfers in progress, by key.
package final class SharedTransferTable: Sendable {
    private let sharedTransfers = Mutex<[CoalescingKey: SharedTransfer]>([:])

    package init() {}

    /// Joins the transfer of a key if its credentials are the same; otherwise adds `new` and returns `nil`.
    func join(
        _ key: CoalescingKey, as member: RequestTask, orAdd new: SharedTransfer
    ) -> (sharedTransfer: SharedTransfer, id: Int)? {
        while true {
            let found = sharedTransfers.withLock { sharedTransfers -> SharedTransfer? in
                // A transfer with other credentials belongs to another session.
                if let sharedTransfer = sharedTransfers[key],
                    sharedTransfer.credentials == new.credentials
                {
                    return sharedTransfer
                }
                sharedTransfers[key] = new
                return nil
            }
            guard let found else { return nil }
            if let id = found.join(member) { return (found, id) }
            // The transfer has ended and is about to be removed.
            remove(key, found)
        }
    }

    /// Adds a transfer; false if another with the key is in progress.
    func add(_ key: CoalescingKey, _ new: SharedTransfer) -> Bool {
        sharedTransfers.withLock { sharedTransfers in
            if let sharedTransfer = sharedTransfers[key], !sharedTransfer.isOver { return false }
            sharedTransfers[key] = new
            return true
        }
    }

    func sharedTransfer(of key: CoalescingKey) -> SharedTransfer? {
        sharedTransfers.withLock { $0[key] }
    }

    func replace(_ key: CoalescingKey, with new: SharedTransfer) -> SharedTransfer? {
        sharedTransfers.withLock { sharedTransfers in
            let old = sharedTransfers[key]
            sharedTransfers[key] = new
            return old
        }
    }

    /// Removes a transfer unless another has replaced it.
    func remove(_ key: CoalescingKey, _ sharedTransfer: SharedTransfer) {
        sharedTransfers.withLock { sharedTransfers in
            if sharedTransfers[key] === sharedTransfer { sharedTransfers[key] = nil }
        }
    }

    package var count: Int { sharedTransfers.withLock { $0.count } }
}
