/// Which of several waiting requests goes first (row RSQ-7).
public enum RequestPriority: Int, Sendable, Hashable, Comparable, CaseIterable {
    /// After everything else.
    case low = -4
    /// The default.
    case normal = 0
    /// Before everything else.
    case high = 4

    /// Orders by urgency: low before normal before high.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
