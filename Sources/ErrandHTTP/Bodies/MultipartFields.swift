import ErrandSystem

/// Converts arguments to text parts with unescaped names such as `a[b]`; data becomes parts with raw bytes.
package struct MultipartFields {
    package let encoding: ArgumentEncoding
    private(set) var parts: [HTTPBody.Part] = []
    private var top = ""

    package init(encoding: ArgumentEncoding) { self.encoding = encoding }

    package mutating func add(_ arguments: Arguments) throws(RequestError) {
        try arguments.check()
        for item in encoding.sortsKeys ? arguments.sorted().items : arguments.items {
            top = item.name
            try add(item.node, name: item.name, depth: 1)
        }
    }

    private mutating func add(
        _ node: Arguments.Node, name: String, depth: Int
    ) throws(RequestError) {
        guard depth <= ArgumentText.maximumDepth else { throw ArgumentText.tooDeep(top) }
        switch node {
        case .object(let arguments):
            try arguments.check()
            for item in encoding.sortsKeys ? arguments.sorted().items : arguments.items {
                try add(item.node, name: "\(name)[\(item.name)]", depth: depth + 1)
            }
        case .array(let nodes):
            for (index, node) in nodes.enumerated() {
                try add(node, name: name + suffix(index), depth: depth + 1)
            }
        case .set(let nodes):
            for node in try FormWriter.sorted(nodes, encoding: encoding, name: top) {
                try add(node, name: name, depth: depth + 1)
            }
        case .null:
            if encoding.nulls != .omit { parts.append(.text(name, "")) }
        case .data(let data):
            parts.append(.data(name, data))
        default:
            parts.append(
                .text(name, try FormWriter.scalar(node, encoding: encoding, name: top)))
        }
    }

    /// The name suffix of a list element; the comma style does not exist for parts, so each element is one part.
    private func suffix(_ index: Int) -> String {
        switch encoding.arrays {
        case .brackets: "[]"
        case .indices: "[\(index)]"
        case .repeated, .comma: ""
        }
    }
}
