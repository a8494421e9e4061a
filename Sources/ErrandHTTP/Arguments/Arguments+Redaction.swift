// Descriptions and dumps end up in logs, so they show names and no values.

extension Arguments: CustomStringConvertible, CustomReflectable {
    /// The names; values may be secret.
    public var description: String { "Arguments: \(names)" }
    /// The names; values may be secret.
    public var customMirror: Mirror { Mirror(self, children: ["names": names]) }
}

extension ArgumentList: CustomStringConvertible, CustomReflectable {
    /// The number of values, which may be secret.
    public var description: String { "ArgumentList: \(count) values" }
    /// The number of values, which may be secret.
    public var customMirror: Mirror { Mirror(self, children: ["count": count]) }

    private var count: Int {
        if case .array(let nodes) = argumentNode { nodes.count } else { 1 }
    }
}
