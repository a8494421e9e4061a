package import Foundation

/// Which headers chose the answers that are stored for an address: an entry of its own in the store, in whose place
/// an answer without `Vary` stands.
package struct VariantIndex: Sendable, Hashable {
    /// The status of an entry that holds an index: no answer has it.
    package static let status = 0
    private static let limit = 4

    /// Part of the variants' keys: those of an index that is gone are not found any more.
    package let generation: String
    /// The latest first.
    package private(set) var lists: [VaryingFields]

    package init(generation: String = UUID().uuidString, _ first: VaryingFields) {
        self.generation = generation
        lists = [first]
    }

    /// What an entry of the store says; `nil` when it holds no index.
    package init?(_ entry: StoredResponse) {
        guard entry.status == Self.status else { return nil }
        var lines = String(decoding: entry.body, as: UTF8.self).split(
            separator: "\n", omittingEmptySubsequences: false
        )[...]
        guard let generation = lines.popFirst(), !generation.isEmpty, !lines.isEmpty else {
            return nil
        }
        self.generation = String(generation)
        lists = lines.prefix(Self.limit).map { line in
            VaryingFields(names: line.split(separator: ",").map(String.init))
        }
    }

    /// As the body of an entry.
    package var body: Data {
        let lines = lists.map { $0.names.joined(separator: ",") }
        return Data(([generation] + lines).joined(separator: "\n").utf8)
    }

    /// Puts a list first.
    ///
    /// - Returns: Whether that changes anything.
    package mutating func note(_ fields: VaryingFields) -> Bool {
        guard lists.first != fields else { return false }
        lists.removeAll { $0 == fields }
        lists.insert(fields, at: 0)
        if lists.count > Self.limit { lists.removeLast() }
        return true
    }
}
