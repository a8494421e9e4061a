import ErrandSystem

/// Writes arguments as compact JSON (RFC 8259) in UTF-8, in their original order.
package struct ArgumentJSONWriter {
    private let encoding: ArgumentEncoding
    private let text: ArgumentText
    private var bytes: [UInt8] = []
    /// The name of the top-level argument being written, for error messages.
    private var name = ""

    /// The arguments as a JSON object.
    ///
    /// - Throws: ``RequestError/Code/invalidArguments``.
    package static func bytes(
        of arguments: Arguments, encoding: ArgumentEncoding
    ) throws(RequestError) -> [UInt8] {
        var writer = ArgumentJSONWriter(encoding)
        try writer.write(arguments, depth: 0)
        return writer.bytes
    }

    /// Any value as JSON.
    ///
    /// - Throws: ``RequestError/Code/invalidArguments``.
    package static func bytes(
        of node: Arguments.Node, encoding: ArgumentEncoding
    ) throws(RequestError) -> [UInt8] {
        var writer = ArgumentJSONWriter(encoding)
        try writer.write(node, depth: 0)
        return writer.bytes
    }

    /// A value within a top-level argument as JSON; error messages name that argument.
    ///
    /// - Throws: ``RequestError/Code/invalidArguments``.
    package static func bytes(
        of node: Arguments.Node, encoding: ArgumentEncoding, within name: String
    ) throws(RequestError) -> [UInt8] {
        var writer = ArgumentJSONWriter(encoding)
        writer.name = name
        // Only names at depth 0 are those of arguments.
        try writer.write(node, depth: 1)
        return writer.bytes
    }

    private init(_ encoding: ArgumentEncoding) {
        self.encoding = encoding
        text = ArgumentText(encoding: encoding)
    }

    private mutating func write(_ arguments: Arguments, depth: Int) throws(RequestError) {
        try arguments.check()
        bytes.append(UInt8(ascii: "{"))
        let items = encoding.sortsKeys ? arguments.sorted().items : arguments.items
        for (index, item) in items.lazy.filter({ !$0.isAbsent }).enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            if depth == 0 { name = item.name }
            write(item.name)
            bytes.append(UInt8(ascii: ":"))
            try write(item.node, depth: depth + 1)
        }
        bytes.append(UInt8(ascii: "}"))
    }

    private mutating func write(_ node: Arguments.Node, depth: Int) throws(RequestError) {
        guard depth <= ArgumentText.maximumDepth else { throw ArgumentText.tooDeep(name) }
        switch node {
        case .null: bytes += "null".utf8
        case .bool(let value): bytes += value ? "true".utf8 : "false".utf8
        case .integer(let value): bytes += String(value).utf8
        case .unsigned(let value): bytes += String(value).utf8
        case .double(let value): bytes += try ArgumentText.number(value, name: name).utf8
        case .decimal(let value): bytes += try ArgumentText.decimal(value, name: name).utf8
        case .string(let value): write(value)
        case .date(let value): try write(text.date(value, name: name), depth: depth)
        case .data(let value): write(text.data(value))
        case .array(let nodes): try write(nodes, depth: depth)
        case .set(let nodes): try write(set: nodes, depth: depth)
        case .object(let arguments): try write(arguments, depth: depth)
        }
    }

    private mutating func write(_ nodes: [Arguments.Node], depth: Int) throws(RequestError) {
        bytes.append(UInt8(ascii: "["))
        for (index, node) in nodes.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            try write(node, depth: depth + 1)
        }
        bytes.append(UInt8(ascii: "]"))
    }

    /// Writes a set sorted by the JSON text of its elements, so that equal sets give equal bytes.
    private mutating func write(set nodes: [Arguments.Node], depth: Int) throws(RequestError) {
        var elements: [[UInt8]] = []
        for node in nodes {
            var writer = ArgumentJSONWriter(encoding)
            writer.name = name
            try writer.write(node, depth: depth + 1)
            elements.append(writer.bytes)
        }
        elements.sort { $0.lexicographicallyPrecedes($1) }
        bytes.append(UInt8(ascii: "["))
        bytes += elements.joined(separator: CollectionOfOne(UInt8(ascii: ",")))
        bytes.append(UInt8(ascii: "]"))
    }

    private mutating func write(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""): bytes += "\\\"".utf8
            case UInt8(ascii: "\\"): bytes += "\\\\".utf8
            case 0x20...: bytes.append(byte)
            case 0x08: bytes += "\\b".utf8
            case 0x09: bytes += "\\t".utf8
            case 0x0A: bytes += "\\n".utf8
            case 0x0C: bytes += "\\f".utf8
            case 0x0D: bytes += "\\r".utf8
            default:
                bytes += byte < 16 ? "\\u000".utf8 : "\\u00".utf8
                bytes += String(byte, radix: 16).utf8
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
