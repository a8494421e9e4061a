/// The recorded requests of a type at one position.
final class ShapeNode {
    private struct Member {
        var key: String
        var node: ShapeNode
        var isOptional = false
    }

    private enum Content {
        case nothing
        case plain(JSONShape)
        case members([Member])
        case items(ShapeNode)
    }

    private var content = Content.nothing
    private var isNullable = false
    /// The value to return instead of the default placeholder.
    var forced: JSON?

    func becomes(_ shape: JSONShape) { content = .plain(shape) }

    func becomesObject() {
        if case .members = content { return }
        content = .members([])
    }

    func becomesNullable() { isNullable = true }

    /// The node of a member; created on first use.
    func member(_ key: String) -> ShapeNode {
        becomesObject()
        guard case .members(var members) = content else { return ShapeNode() }
        if let known = members.first(where: { $0.key == key }) { return known.node }
        let node = ShapeNode()
        members.append(Member(key: key, node: node))
        content = .members(members)
        return node
    }

    func memberIsOptional(_ key: String) {
        _ = member(key)
        guard case .members(var members) = content else { return }
        for index in members.indices where members[index].key == key {
            members[index].isOptional = true
        }
        content = .members(members)
    }

    /// The node that all items share.
    func item() -> ShapeNode {
        if case .items(let node) = content { return node }
        let node = ShapeNode()
        content = .items(node)
        return node
    }

    var shape: JSONShape {
        let shape: JSONShape =
            switch content {
            case .nothing: .any
            case .plain(let shape): shape
            case .items(let node): .array(of: node.shape)
            case .members(let members):
                JSONShape(
                    members.map { member in
                        let shape = member.node.shape
                        if member.isOptional { return (member.key, .optional(shape)) }
                        return (member.key, member.node.isNullable ? shape : .nonNull(shape))
                    })
            }
        return isNullable ? .nullable(shape) : shape
    }
}
