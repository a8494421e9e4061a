/// The keyword `uniqueItems`.
enum UniqueItems {
    /// Whether the items of an array differ, compared with `==` of `JSON`.
    static func areIn(_ json: JSON) -> Bool {
        guard json.kind == .array else { return false }
        // Only items with the same summary are compared.
        var seen: [Summary: [JSON]] = [:]
        for item in json {
            let summary = Summary(item)
            if seen[summary]?.contains(item) ?? false { return false }
            seen[summary, default: []].append(item)
        }
        return true
    }

    /// What equal values have in common.
    private enum Summary: Hashable {
        case null
        case bool(Bool)
        case number(Double)
        case string(String)
        case array(Int, [Summary])
        case object(Set<String>, [Summary])

        init(_ json: JSON, depth: Int = 0) {
            switch json.kind {
            case .absent, .null: self = .null
            case .bool: self = .bool(json.bool ?? false)
            case .number: self = .number(json.double ?? .infinity)
            case .string: self = .string(json.string ?? "")
            case .array:
                let first = depth < 2 ? json.prefix(8).map { Summary($0, depth: depth + 1) } : []
                self = .array(json.count, first)
            case .object:
                let members = (json.object ?? []).sorted { $0.key < $1.key }
                let first =
                    depth < 2 ? members.prefix(8).map { Summary($0.value, depth: depth + 1) } : []
                self = .object(Set(members.map(\.key)), first)
            }
        }
    }
}
