import ErrandSystem

/// Writes arguments as `application/x-www-form-urlencoded` bytes: `a=1&b%5Bc%5D=2`.
package struct FormWriter {
    private let encoding: ArgumentEncoding
    private let kept: ByteSet
    private var bytes: [UInt8] = []
    /// The percent-encoded key of the value being written: `b%5Bc%5D`.
    private var key: [UInt8] = []
    /// The name of the top-level argument being written, for error messages.
    private var name = ""

    private static let query = ByteSet.unreserved.union("?/")
    private static let webForm = ByteSet.alphanumeric.union("*-._")

    /// The arguments as ASCII bytes.
    ///
    /// - Throws: ``RequestError/Code/invalidArguments``.
    package static func bytes(
        of arguments: Arguments, encoding: ArgumentEncoding
    ) throws(RequestError) -> [UInt8] {
        if let custom = encoding.custom { return try bytes(of: arguments, custom: custom) }
        var writer = FormWriter(encoding)
        try writer.write(arguments, isNested: false, depth: 0)
        return writer.bytes
    }

    private static func bytes(
        of arguments: Arguments, custom: @Sendable (Arguments) throws -> String
    ) throws(RequestError) -> [UInt8] {
        try arguments.checkAllLevels()
        do {
            let text = try custom(arguments)
            var bytes: [UInt8] = []
            PercentEncoding.appendKeepingEscapes(text.utf8, keeping: URIBytes.query, to: &bytes)
            return bytes
        } catch {
            throw error as? RequestError
                ?? RequestError(
                    .invalidArguments, stage: .build,
                    "The custom argument encoding failed. See the underlying error.",
                    underlying: error)
        }
    }

    private init(_ encoding: ArgumentEncoding) {
        self.encoding = encoding
        kept =
            switch encoding.escapes {
            case .query: Self.query
            case .unreserved: .unreserved
            case .webForm: Self.webForm
            }
    }

    private mutating func write(
        _ arguments: Arguments, isNested: Bool, depth: Int
    ) throws(RequestError) {
        try arguments.check()
        let items = encoding.sortsKeys ? arguments.sorted().items : arguments.items
        for item in items {
            let end = key.count
            if isNested {
                key += Self.openBracket
                try appendToKey(item.name)
                key += Self.closeBracket
            } else {
                name = item.name
                try appendToKey(item.name)
            }
            try write(item.node, depth: depth + 1)
            key.removeLast(key.count - end)
        }
    }

    private mutating func write(_ node: Arguments.Node, depth: Int) throws(RequestError) {
        guard depth <= ArgumentText.maximumDepth else { throw ArgumentText.tooDeep(name) }
        switch node {
        case .object(let arguments):
            try write(arguments, isNested: true, depth: depth)
        case .array(let nodes):
            try write(array: nodes, depth: depth)
        case .set(let nodes):
            for node in try Self.sorted(nodes, encoding: encoding, name: name) {
                try write(node, depth: depth + 1)
            }
        case .null:
            guard encoding.nulls != .omit else { return }
            beginPair()
            if encoding.nulls == .empty { bytes.append(UInt8(ascii: "=")) }
        default:
            let value = try Self.scalar(node, encoding: encoding, name: name)
            beginPair()
            bytes.append(UInt8(ascii: "="))
            try appendToBytes(value)
        }
    }

    private mutating func write(array nodes: [Arguments.Node], depth: Int) throws(RequestError) {
        if encoding.arrays == .comma { return try write(commaSeparated: nodes) }
        let end = key.count
        for (index, node) in nodes.enumerated() {
            switch encoding.arrays {
            case .brackets: key += Self.openBracket + Self.closeBracket
            case .indices: key += Self.openBracket + Array(String(index).utf8) + Self.closeBracket
            case .repeated, .comma: break
            }
            try write(node, depth: depth + 1)
            key.removeLast(key.count - end)
        }
    }

    private mutating func write(commaSeparated nodes: [Arguments.Node]) throws(RequestError) {
        var values: [String] = []
        for node in nodes {
            switch node {
            case .null:
                if encoding.nulls != .omit { values.append("") }
            case .array, .set, .object:
                throw ArgumentText.invalid(
                    name, "contains a nested collection, which the comma style cannot encode")
            default:
                values.append(try Self.scalar(node, encoding: encoding, name: name))
            }
        }
        guard !values.isEmpty else { return }
        beginPair()
        for (index, value) in values.enumerated() {
            bytes.append(index == 0 ? UInt8(ascii: "=") : UInt8(ascii: ","))
            try appendToBytes(value)
        }
    }

    /// The elements of a set sorted by their text; nested collections come last, sorted by JSON.
    ///
    /// Dates of a custom style are replaced by their text.
    package static func sorted(
        _ nodes: [Arguments.Node], encoding: ArgumentEncoding, name: String
    ) throws(RequestError) -> [Arguments.Node] {
        var keyed: [(text: String, node: Arguments.Node)] = []
        let text = ArgumentText(encoding: encoding)
        for node in nodes.map({ text.replacingCustomDates(in: $0) }) {
            switch node {
            case .array, .set, .object:
                let json = try ArgumentJSONWriter.bytes(
                    of: node, encoding: encoding, within: name)
                keyed.append(("\u{10FFFF}\(String(decoding: json, as: UTF8.self))", node))
            case .null: keyed.append(("", node))
            default: keyed.append((try Self.scalar(node, encoding: encoding, name: name), node))
            }
        }
        keyed.sort { $0.text.utf16.lexicographicallyPrecedes($1.text.utf16) }
        return keyed.map(\.node)
    }

    /// A scalar value as text, before percent-encoding.
    package static func scalar(
        _ node: Arguments.Node, encoding: ArgumentEncoding, name: String
    ) throws(RequestError) -> String {
        let text = ArgumentText(encoding: encoding)
        switch node {
        case .null, .array, .set, .object: return ""
        case .bool(let value):
            if encoding.bools == .numeric { return value ? "1" : "0" }
            return value ? "true" : "false"
        case .integer(let value): return String(value)
        case .unsigned(let value): return String(value)
        case .double(let value): return try ArgumentText.number(value, name: name)
        case .decimal(let value): return try ArgumentText.decimal(value, name: name)
        case .string(let value): return value
        case .date(let value):
            return try scalar(text.date(value, name: name), encoding: encoding, name: name)
        case .data(let value): return text.data(value)
        }
    }

    private mutating func beginPair() {
        if !bytes.isEmpty { bytes.append(UInt8(ascii: "&")) }
        bytes += key
    }

    private mutating func appendToKey(_ text: String) throws(RequestError) {
        try append(text, to: \.key)
    }

    private mutating func appendToBytes(_ text: String) throws(RequestError) {
        try append(text, to: \.bytes)
    }

    private mutating func append(
        _ text: String, to path: WritableKeyPath<FormWriter, [UInt8]>
    ) throws(RequestError) {
        let isPlus = encoding.spaces == .plus
        guard encoding.charset.encoding != .utf8 else {
            PercentEncoding.append(
                text.utf8, keeping: kept, spaceAsPlus: isPlus, to: &self[keyPath: path])
            return
        }
        guard let encoded = text.data(using: encoding.charset.encoding) else {
            throw ArgumentText.invalid(
                name,
                "contains a character that the charset \(encoding.charset.name) cannot encode"
                    + Self.advice)
        }
        PercentEncoding.append(
            encoded, keeping: kept, spaceAsPlus: isPlus, to: &self[keyPath: path])
    }

    #if Foundation || URLSession || canImport(Darwin)
        private static let advice = ""
    #else
        // FoundationEssentials has the charsets of Unicode, ASCII, ISO 8859-1 and Mac OS Roman only.
        private static let advice =
            ", or the charset needs the package trait Foundation in Package.swift"
    #endif

    private static let openBracket = Array("%5B".utf8)
    private static let closeBracket = Array("%5D".utf8)
}
