import Foundation

/// Writes arguments as a property list, by way of Foundation.
struct ArgumentPropertyListWriter {
    let encoding: ArgumentEncoding

    /// The arguments as a dictionary.
    ///
    /// - Throws: ``RequestError/Code/invalidArguments``: for a null too, unless nulls are left out, and for a
    ///   name that occurs twice.
    func data(
        of arguments: Arguments, format: PropertyListSerialization.PropertyListFormat
    ) throws(RequestError) -> Data {
        let dictionary = try dictionary(arguments, name: "", depth: 0)
        do {
            return try PropertyListSerialization.data(
                fromPropertyList: dictionary, format: format, options: 0)
        } catch {
            throw RequestError(
                .invalidArguments, stage: .build,
                "The arguments cannot be written as a property list.", underlying: error)
        }
    }

    private func dictionary(
        _ arguments: Arguments, name: String, depth: Int
    ) throws(RequestError) -> [String: Any] {
        var dictionary: [String: Any] = [:]
        for item in arguments.items {
            let top = depth == 0 ? item.name : name
            guard dictionary[item.name] == nil else {
                throw ArgumentText.invalid(
                    top, "has a name that occurs twice, which a property list cannot hold")
            }
            dictionary[item.name] = try object(item.node, name: top, depth: depth + 1)
        }
        return dictionary
    }

    private func object(_ node: ArgumentNode, name: String, depth: Int) throws(RequestError) -> Any?
    {
        guard depth <= ArgumentText.maximumDepth else { throw ArgumentText.tooDeep(name) }
        switch node {
        case .null:
            guard encoding.nulls == .omit else {
                throw ArgumentText.invalid(
                    name,
                    "is null, which a property list cannot hold; leave it out, "
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
