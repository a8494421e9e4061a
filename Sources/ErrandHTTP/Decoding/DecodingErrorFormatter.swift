package import ErrandJSON
import ErrandSystem

/// Describes where and why decoding failed: the path in the document, what was expected and what was found.
package struct DecodingErrorFormatter {
    /// The document; absent if it is not known.
    private let root: JSON
    /// The keys that lead to the decoded value.
    private let base: [String]
    private let convertKey: (([any CodingKey], String) -> String)?
    private let isSnakeCase: Bool

    package init(root: JSON, base: [String], decoder: JSONReader) {
        self.root = root
        self.base = base
        convertKey = decoder.keyConversion
        isSnakeCase =
            if case .convertFromSnakeCase = decoder.keyDecodingStrategy { true } else { false }
    }

    /// Describes an error of a decoder whose document and strategies are not known.
    package static func describe(_ error: any Error) -> String {
        DecodingErrorFormatter(root: .absent, base: [], decoder: JSONReader()).describe(error)
    }

    package func describe(_ error: any Error) -> String {
        if let error = error as? JSONError { return "the body is not valid JSON: \(error)." }
        guard let error = error as? DecodingError else { return "\(type(of: error))." }
        switch error {
        case .typeMismatch(let type, let context):
            return expected(type, at: position(of: context.codingPath))
        case .valueNotFound(let type, let context):
            return expected(type, at: position(of: context.codingPath), otherwise: "null")
        case .keyNotFound(let key, let context):
            return "missing key \(missing(key)) at \(position(of: context.codingPath).path)."
        case .dataCorrupted(let context):
            if let error = context.underlyingError as? JSONError { return describe(error) }
            let position = position(of: context.codingPath)
            return "invalid value at \(position.path)" + found(position, otherwise: nil) + "."
        @unknown default:
            return "\(type(of: error))."
        }
    }

    // MARK: - Keys and paths

    /// The position of an error in the document.
    private struct Position {
        /// The path with the keys of the document, and the last key of the type if that differs.
        var path = "$"
        var value: JSON
        var isSecret = false
    }

    private func position(of codingPath: [any CodingKey]) -> Position {
        var position = Position(value: root)
        for key in base { step(to: key, of: &position) }
        var typeKey: String?
        for (index, key) in codingPath.enumerated() {
            if let item = key.intValue, position.value.kind != .object {
                position.path += CodingPath.step(item)
                position.value = position.value[item]
                typeKey = nil
            } else {
                let parents = Array(codingPath[..<index])
                let original = original(of: key.stringValue, in: position.value, parents)
                typeKey = original == key.stringValue ? nil : key.stringValue
                step(to: original, of: &position)
            }
        }
        if let typeKey { position.path += " (\(typeKey))" }
        return position
    }

    private func step(to key: String, of position: inout Position) {
        position.path += CodingPath.step(key)
        position.value = position.value[key]
        position.isSecret = position.isSecret || SecretName.isSecret(argument: key)
    }

    /// The key of the document that the strategy converts to a key of the type.
    private func original(
        of key: String, in object: JSON, _ parents: [any CodingKey]
    ) -> String {
        guard let convertKey else { return key }
        // A key that stays as it is, or one of a dictionary, which no strategy converts.
        if object[key].exists, convertKey(parents, key) == key { return key }
        return object.keys.first { convertKey(parents, $0) == key } ?? key
    }

    /// A key in the form of the document and in that of the type.
    private func missing(_ key: any CodingKey) -> String {
        let text = key.stringValue
        guard convertKey != nil else { return "'\(text)'" }
        guard isSnakeCase else { return "'\(text)' (after the key strategy)" }
        let original = SnakeCase.snakeCase(text)
        return original == text ? "'\(text)'" : "'\(original)' (\(text))"
    }

    // MARK: - Values

    private func expected(
        _ type: Any.Type, at position: Position, otherwise: String? = nil
    ) -> String {
        let name =
            if type == [String: Any].self { "an object" } else if type == [Any].self {
                "an array"
            } else { "\(type)" }
        return "expected \(name) at \(position.path)" + found(position, otherwise: otherwise) + "."
    }

    /// `, found …`; empty if the document is not known.
    private func found(_ position: Position, otherwise: String?) -> String {
        if !root.exists { return otherwise.map { ", found \($0)" } ?? "" }
        return ", found " + words(for: position.value, isSecret: position.isSecret)
    }

    /// A value for a message: texts, and numbers under keys such as `token`, are not shown.
    private func words(for value: JSON, isSecret: Bool) -> String {
        switch value.kind {
        case .absent: return "nothing"
        case .null: return "null"
        case .bool: return value.bool == true ? "true" : "false"
        case .number:
            guard !isSecret, let text = value.number, text.utf8.count <= Self.maximumLength else {
                return "a number"
            }
            return "the number \(text)"
        case .string: return "a string"
        case .array: return "an array of \(value.count)"
        case .object: return "an object"
        }
    }

    private static let maximumLength = 32
}
