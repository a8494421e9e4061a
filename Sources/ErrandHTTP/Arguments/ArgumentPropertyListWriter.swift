package import ErrandSystem

/// Writes arguments as a property list, with Foundation's encoder.
package struct ArgumentPropertyListWriter {
    package enum Format: Sendable {
        case xml
        case binary
    }

    /// A value of any type that a property list can contain.
    private struct Value: Encodable {
        let value: any Encodable

        init(_ value: any Encodable) { self.value = value }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(value)
        }
    }

    package let encoding: ArgumentEncoding

    package init(encoding: ArgumentEncoding) { self.encoding = encoding }

    /// The arguments as a property list dictionary.
    ///
    /// - Throws: ``RequestError/Code/invalidArguments`` for a duplicate name, for nesting that is too deep,
    ///   and for a null unless `encoding.nulls` is `.omit`.
    package func data(
        of arguments: Arguments, format: Format
    ) throws(RequestError) -> Data {
        let dictionary = try dictionary(arguments, name: "", depth: 0)
        let encoder = PropertyListEncoder()
        encoder.outputFormat = format == .xml ? .xml : .binary
        do {
            return try encoder.encode(dictionary)
        } catch {
            throw RequestError(
                .invalidArguments, stage: .build,
                "The arguments cannot be encoded as a property list. See the underlying error.",
                underlying: error)
        }
    }

    private func dictionary(
        _ arguments: Arguments, name: String, depth: Int
    ) throws(RequestError) -> [String: Value] {
        try arguments.check()
        var dictionary: [String: Value] = [:]
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
        -> Value?
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
        case .bool(let value): return Value(value)
        case .integer(let value): return Int(exactly: value).map { Value($0) }
        case .unsigned(let value): return Value(value)
        case .double(let value):
            _ = try ArgumentText.number(value, name: name)
            return Value(value)
        case .decimal(let value):
            return Double(try ArgumentText.decimal(value, name: name)).map { Value($0) }
        case .string(let value): return Value(value)
        case .date(let value): return Value(value)
        case .data(let value): return Value(value)
        case .array(let nodes), .set(let nodes):
            var objects: [Value] = []
            for node in nodes {
                if let object = try object(node, name: name, depth: depth + 1) {
                    objects.append(object)
                }
            }
            return Value(objects)
        case .object(let arguments):
            return Value(try dictionary(arguments, name: name, depth: depth))
        }
    }
}
