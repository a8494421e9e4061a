package import ErrandJSON
import ErrandSystem

/// Applies the strategies of a JSON encoder to argument trees that were encoded from values.
package struct ArgumentStrategies {
    private let encoder: JSONWriter
    private let convertKey: (([any CodingKey]) -> String)?
    private let convertsDates: Bool
    private let convertsData: Bool
    private let convertsFloats: Bool

    /// Whether an encoder changes anything if its strategies are not explicit.
    package static func areNeeded(for encoder: JSONWriter) -> Bool {
        guard case .useDefaultKeys = encoder.keyEncodingStrategy,
            case .iso8601 = encoder.dateEncodingStrategy,
            case .base64 = encoder.dataEncodingStrategy,
            case .throw = encoder.nonConformingFloatEncodingStrategy
        else { return true }
        return false
    }

    /// - Parameter areExplicit: Whether the strategies that ``ArgumentEncoding`` replaces apply as well.
    package init(_ encoder: JSONWriter, areExplicit: Bool) {
        self.encoder = encoder
        convertKey = encoder.keyConversion
        let hasDates = if case .iso8601 = encoder.dateEncodingStrategy { false } else { true }
        let hasData = if case .base64 = encoder.dataEncodingStrategy { false } else { true }
        convertsDates = areExplicit || hasDates
        convertsData = areExplicit || hasData
        convertsFloats =
            if case .throw = encoder.nonConformingFloatEncodingStrategy { false } else { true }
    }

    /// The arguments, converted once: the result does not change again.
    package func applied(to arguments: Arguments) throws(RequestError) -> Arguments {
        try applied(to: arguments, path: [])
    }

    /// A tree that was encoded from a value, converted.
    package func applied(to node: Arguments.Node) throws(RequestError) -> Arguments.Node {
        try applied(to: node, path: [], isEncoded: true)
    }

    private func applied(
        to arguments: Arguments, path: [any CodingKey]
    ) throws(RequestError) -> Arguments {
        var result = arguments
        for (index, item) in arguments.items.enumerated() {
            let path = path + [TreeKey(stringValue: item.name)]
            if item.source == .codingKey, let convertKey {
                result.items[index].name = convertKey(path)
            }
            result.items[index].source = .literal
            result.items[index].node = try applied(
                to: item.node, path: path, isEncoded: item.source != .literal)
        }
        return result
    }

    private func applied(
        to node: Arguments.Node, path: [any CodingKey], isEncoded: Bool
    ) throws(RequestError) -> Arguments.Node {
        let top = path.first?.stringValue ?? ""
        guard path.count <= ArgumentText.maximumDepth else { throw ArgumentText.tooDeep(top) }
        switch node {
        case .object(let arguments): return .object(try applied(to: arguments, path: path))
        case .array(let nodes): return .array(try applied(to: nodes, path, isEncoded))
        case .set(let nodes): return .set(try applied(to: nodes, path, isEncoded))
        case .date(let date) where isEncoded && convertsDates: return try encoded(date, top)
        case .data(let data) where isEncoded && convertsData: return try encoded(data, top)
        case .double(let value) where isEncoded && convertsFloats && !value.isFinite:
            return try encoded(value, top)
        default: return node
        }
    }

    private func applied(
        to nodes: [Arguments.Node], _ path: [any CodingKey], _ isEncoded: Bool
    ) throws(RequestError) -> [Arguments.Node] {
        var result: [Arguments.Node] = []
        for (index, node) in nodes.enumerated() {
            result.append(
                try applied(
                    to: node, path: path + [TreeKey(intValue: index)], isEncoded: isEncoded))
        }
        return result
    }

    /// A value as the encoder writes it.
    private func encoded(_ value: some Encodable, _ name: String) throws(RequestError)
        -> Arguments.Node
    {
        do {
            return try encoder.encodeJSON(value).argumentNode
        } catch {
            throw RequestError(
                .invalidArguments, stage: .build,
                "The argument \"\(name)\" cannot be encoded by the strategy for \(type(of: value)). "
                    + "See the underlying error.",
                underlying: error)
        }
    }
}

/// A key of an argument tree; the text of a position is that of `JSONEncoder`.
struct TreeKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(stringValue: String) {
        self.stringValue = stringValue
        intValue = nil
    }

    init(intValue: Int) {
        stringValue = "Index \(intValue)"
        self.intValue = intValue
    }
}
