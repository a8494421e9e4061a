/// How many requests are under way at once, and how many may wait.
public struct RequestLimits: Sendable, Hashable {
    /// In all; `nil`, the default, has no limit.
    public var total: Int?
    /// To one host; `nil`, the default, has no limit.
    public var perHost: Int?
    /// With one tag, for the tags named here (default none).
    public var perTag: [Int: Int]
    /// How many may wait; one more fails with ``RequestError/Code/queueFull``.
    ///
    /// `nil`, the default, has no limit.
    public var waiting: Int?

    /// Makes limits; each has the default its property names.
    public init(
        total: Int? = nil, perHost: Int? = nil, perTag: [Int: Int] = [:], waiting: Int? = nil
    ) {
        self.total = total
        self.perHost = perHost
        self.perTag = perTag
        self.waiting = waiting
    }

    /// Whether nobody ever waits.
    package var areNone: Bool { total == nil && perHost == nil && perTag.isEmpty }

    /// What makes no sense about the limits, in words; `nil` when all is well.
    package var fault: String? {
        if let total, total < 1 { return "total is \(total)" }
        if let perHost, perHost < 1 { return "perHost is \(perHost)" }
        if let waiting, waiting < 0 { return "waiting is \(waiting)" }
        return perTag.first { $0.value < 1 }.map { "perTag[\($0.key)] is \($0.value)" }
    }
}
