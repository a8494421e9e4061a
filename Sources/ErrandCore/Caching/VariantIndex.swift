package import ErrandSystem

/// The `Vary` fields of the variants that are stored for a URL.
///
/// The store contains it as an entry under the key of the URL; a response without `Vary` would be
/// stored there itself.
package struct VariantIndex: Sendable, Hashable {
    /// The status of an entry that contains an index; no response has it.
    package static let status = 0
    private static let limit = 4

    /// A part of the variants' keys, so that variants of a removed index are not found.
    package let generation: String
    /// The lists of fields, the most recent first.
    package private(set) var lists: [VaryingFields]

    package init(generation: String = UUID().uuidString, _ first: VaryingFields) {
        self.generation = generation
        lists = [first]
    }

    /// Reads the index from an entry; `nil` if the entry contains no index.
    package init?(_ entry: StoredResponse) {
        guard entry.status == Self.status else { return nil }
        var lines = String(decoding: entry.body, as: UTF8.self).pieces(
            at: "\n", keepingEmpty: true)[...]
        guard let generation = lines.popFirst(), !generation.isEmpty, !lines.isEmpty else {
            return nil
        }
        self.generation = String(generation)
        lists = lines.prefix(Self.limit).map { line in
            VaryingFields(names: line.pieces(at: ",").map(String.init))
        }
    }

    /// The index in the form of an entry's body.
    package var body: Data {
        let lines = lists.map { $0.names.joined(separator: ",") }
        return Data(([generation] + lines).joined(separator: "\n").utf8)
    }

    /// Moves a list to the front, or adds it there.
    ///
    /// - Returns: Whether the index has changed.
    package mutating func note(_ fields: VaryingFields) -> Bool {
        guard lists.first != fields else { return false }
        lists.removeAll { $0 == fields }
        lists.insert(fields, at: 0)
        if lists.count > Self.limit { lists.removeLast() }
        return true
    }
}
