extension Documents {
    /// The members of a member that is an object; none, and a problem, if it is something else.
    func members(_ name: String, of node: Node, _ place: Place) -> [(key: String, value: Node)] {
        guard let value = node[name], !value.isNull else { return [] }
        if let members = value.members { return members }
        report(.error, place.child(name), "`\(name)` must be an object, not \(value.kind).")
        return []
    }

    /// The items of a member that is a list; `nil` without the member, and with a problem if it is something else.
    func list(_ name: String, of node: Node, _ place: Place) -> [Node]? {
        guard let value = node[name], !value.isNull else { return nil }
        if let items = value.items { return items }
        report(.error, place.child(name), "`\(name)` must be a list, not \(value.kind).")
        return nil
    }

    /// Whether a value is an object; otherwise there is a problem.
    func isObject(_ node: Node, _ place: Place) -> Bool {
        if node.members != nil { return true }
        report(.error, place, "`\(place.name)` must be an object, not \(node.kind).")
        return false
    }
}
