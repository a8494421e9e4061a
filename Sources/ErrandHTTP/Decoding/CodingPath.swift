/// Paths of `Codable` values for error messages, such as `$.users[3].id`.
package enum CodingPath {
    package static func text(_ path: [any CodingKey]) -> String {
        path.reduce(into: "$") { text, key in
            text += key.intValue.map(step) ?? step(key.stringValue)
        }
    }

    /// The step to an item of an array.
    package static func step(_ index: Int) -> String { "[\(index)]" }

    /// The step to a member; keys of other characters than letters, digits, `_` and `-` are quoted.
    ///
    /// At most 64 characters are shown: a key can come from a server.
    package static func step(_ key: String) -> String {
        let isPlain = key.utf8.allSatisfy(plainBytes.contains) && !key.isEmpty
        let shown = key.count > 64 ? key.prefix(64) + "…" : key[...]
        return isPlain ? ".\(shown)" : "[\(String(shown).debugDescription)]"
    }

    /// ` at $.price` for an encoding error below the top level; empty for other errors.
    package static func suffix(of error: any Error) -> String {
        guard case .invalidValue(_, let context)? = error as? EncodingError,
            !context.codingPath.isEmpty
        else { return "" }
        return " at " + text(context.codingPath)
    }

    private static let plainBytes = ByteSet.alphanumeric.union("_-")
}
