import ErrandHTTP

/// The suspension and priority of a shared transfer, computed from its members by a pure function.
package struct SharedTransferDemand: Sendable, Equatable {
    package struct Member: Sendable, Equatable {
        package var isPaused: Bool
        package var priority: RequestPriority

        package init(isPaused: Bool, priority: RequestPriority) {
            (self.isPaused, self.priority) = (isPaused, priority)
        }
    }

    /// True if there are members and all of them are suspended.
    package let isPaused: Bool
    /// The highest priority of the members; `nil` without members.
    package let priority: RequestPriority?

    package init(of members: some Sequence<Member>) {
        var isPaused = true
        var priority: RequestPriority?
        for member in members {
            isPaused = isPaused && member.isPaused
            priority = max(priority ?? member.priority, member.priority)
        }
        self.isPaused = isPaused && priority != nil
        self.priority = priority
    }
}
