package import Foundation

/// Writes arguments as a property list, with Foundation's serializer.
package struct ArgumentPropertyListWriter {
    package let encoding: ArgumentEncoding

    package init(encoding: ArgumentEncoding) { self.encoding = encoding }

    /// The arguments as a property list dictionary.
    ///
    /// - Throws: ``RequestError/Code/invalidArguments`` for a duplicate name, for nesting that is too deep,
    ///   and for a null unless `encoding.nulls` is `.omit`.
    package func data(
        of arguments: Arguments, format: PropertyListSerialization.PropertyListFormat
    ) throws(RequestError) -> Data {
        let dictionary = try dictionary(arguments, name: "", depth: 0)
        do {
            return try PropertyListSerialization.data(
                fromPropertyList: dictionary, format: format, options: 0)
        } catch {
            throw RequestError(
                .invalidArguments, stage: .build,
                "The arguments cannot be encoded as a property list. See the underlying error.",
                underlying: error)
        }
    }

    private func dictionary(
        _ arguments: Arguments, name: String, depth: Int
    ) throws(RequestError) -> [String: Any] {
        try arguments.check()
        var dictionary: [String: Any] = [:]
        for item in arguments.items where !item.isAbsent {
            let top = depth == 0 ? item.name : name
            guard dictionary[item.name] == nil else {
                throw ArgumentText.invalid(
                    top, "contains a duplicate name, which a property list does not allow")
            }
            dictionary[item.name] = try object(item.node, name: top, depth: depth + 1)
        }
        return dictionary
    }

    private func object(_ node: Arguments.Node, name: String, depth: Int) throws(RequestError)
        -> Any?
    {
        guard depth <= ArgumentText.maximumDepth else { throw ArgumentText.tooDeep(name) }
        switch node {
        case .null:
            guard encoding.nulls == .omit else {
                throw ArgumentText.invalid(
                    name,
                    "is null, which a property list cannot represent; leave it out, "
                        + "or set argumentEncoding.nulls to .omit")
            }
            return nil
        case .bool(let value): return value
        case .integer(let value): return Int(exactly: value)
        case .unsigned(let value): return value
        case .double(let value):
            _ = try ArgumentText.number(value, name: name)
            return value
        case .decimal(let value):
            return Double(try ArgumentText.decimal(value, name: name))
        case .string(let value): return value
        case .date(let value): return value
        case .data(let value): return value
        case .array(let nodes), .set(let nodes):
            var objects: [Any] = []
            for node in nodes {
                if let object = try object(node, name: name, depth: depth + 1) {
                    objects.append(object)
                }
            }
            return objects
        case .object(let arguments):
            return try dictionary(arguments, name: name, depth: depth)
        }
    }
}
