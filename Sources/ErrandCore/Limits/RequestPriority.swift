import ErrandHTTP

/// The priority of a request among the waiting requests.
public enum RequestPriority: Int, Sendable, Hashable, Comparable, CaseIterable {
    /// Runs after requests with a higher priority.
    case low = -4
    /// The default.
    case normal = 0
    /// Runs before requests with a lower priority.
    case high = 4

    /// Orders by priority: low before normal before high.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
