/// Recognises lists with several pages.
struct Paging {
    let types: TypePlanner

    private static let cursors: Set<String> = [
        "cursor", "after", "page_token", "pageToken", "next_token", "nextToken", "marker",
        "starting_after", "offset", "continuation_token", "PageToken",
    ]
    private static let nextCursors: Set<String> = [
        "next_cursor", "nextCursor", "next_page_token", "nextPageToken", "next_token", "nextToken",
        "next_marker", "nextMarker", "next_page", "after", "next",
    ]
    private static let nextLinks: Set<String> = ["next_page_uri", "next_page_url", "nextLink"]
    private static let offsets: Set<String> = ["offset", "skip", "start"]
    private static let numbers: Set<String> = ["page", "page_number", "pageNumber"]
    private static let totals: Set<String> = ["total", "total_count", "totalCount", "count"]

    func pages(of endpoint: Endpoint) -> Endpoint.Pages? {
        guard endpoint.operation.method == "get" || endpoint.operation.pagination != nil,
            case .json(let output, let isOptional) = endpoint.output, !isOptional
        else { return nil }
        if case .array(let item) = output {
            guard let rule = rule(of: endpoint, nil, itemsKey: nil) else { return nil }
            return .init(rule: rule, items: nil, item: item)
        }
        guard case .declared(let key) = output,
            case .structure(let structure)? = types.declarations[key]?.body
        else { return nil }
        let lists = structure.properties.filter { if case .array = $0.type { true } else { false } }
        let named = endpoint.operation.pagination?["items"]?.string
        guard
            let list = lists.first(where: { $0.key == named })
                ?? (lists.count == 1 ? lists[0] : nil)
                    ?? lists.first(where: {
                        ["data", "items", "entries", "results"].contains($0.key)
                    }),
            case .array(let item) = list.type,
            let rule = rule(of: endpoint, structure, itemsKey: list.key)
        else { return nil }
        return .init(rule: rule, items: (list.name, list.isOptional), item: item)
    }

    private func rule(
        of endpoint: Endpoint, _ page: Declaration.Structure?, itemsKey: String?
    ) -> String? {
        if let stated = endpoint.operation.pagination { return Self.rule(stated, itemsKey) }
        let parameters = endpoint.operation.parameters.filter { $0.location == .query }
        let queries = parameters.map(\.name)
        let numbers = parameters.filter(isNumber).map(\.name)
        if let page {
            if let cursor = queries.first(where: Self.cursors.contains),
                let path = path(to: Self.nextCursors, in: page) ?? path(toNext: cursor, in: page)
            {
                return ".cursor(\(Text.literal(cursor)), at: \(Self.list(path)))"
            }
            let keys = Set(page.properties.map(\.key))
            if queries.contains("after"), keys.isSuperset(of: ["has_more", "last_id"]) {
                return
                    #".cursor("after") { $0.json["has_more"].bool == true ? $0.json["last_id"].string : nil }"#
            }
            if queries.contains("starting_after"), keys.contains("has_more"), let itemsKey,
                case .array(let item)? = page.properties.first(where: { $0.key == itemsKey })?.type,
                hasIdentifier(item)
            {
                return """
                    .cursor("starting_after") { response in
                        guard response.json["has_more"].bool == true else { return nil }
                        return response.json[\(Text.literal(itemsKey))].array?.last?["id"].string
                    }
                    """
            }
            // A page that is named by text.
            if let name = queries.first(where: {
                Self.numbers.contains($0) && !numbers.contains($0)
            }),
                page.properties.contains(where: {
                    $0.key == "next_page" && $0.type == .builtin("String")
                })
            {
                return ".cursor(\(Text.literal(name)), at: [\"next_page\"])"
            }
            if let link = page.properties.first(where: { Self.nextLinks.contains($0.key) }) {
                return "Pagination { response, _ in response.json[\(Text.literal(link.key))]"
                    + ".string.map { .url($0) } }"
            }
        }
        if endpoint.operation.responses.contains(where: { $0.isSuccess && $0.hasLinkHeader }) {
            return ".link"
        }
        let items = itemsKey.map { ", items: [\(Text.literal($0))]" } ?? ""
        if let offset = numbers.first(where: Self.offsets.contains) {
            let total = page?.properties.first { Self.totals.contains($0.key) }
            let totalText = total.map { ", total: [\(Text.literal($0.key))]" } ?? ""
            return ".offset(\(Text.literal(offset))\(items)\(totalText))"
        }
        if let number = numbers.first(where: Self.numbers.contains) {
            return ".number(\(Text.literal(number))\(items))"
        }
        return nil
    }

    /// Whether the value of a parameter is a number.
    private func isNumber(_ parameter: Operation.Parameter) -> Bool {
        guard let schema = parameter.schema,
            case .builtin(let name) = types.shapes.resolved(schema).shape
        else { return false }
        return ["Int", "Int64", "Double"].contains(name)
    }

    /// Whether items are objects with an `id` that is text.
    private func hasIdentifier(_ item: SwiftType) -> Bool {
        guard case .declared(let key) = item else { return false }
        switch types.declarations[key]?.body {
        case .structure(let structure):
            return structure.properties.contains {
                $0.key == "id" && $0.type == .builtin("String")
            }
        case .union(let union):
            return !union.cases.isEmpty && union.cases.allSatisfy { hasIdentifier($0.type) }
        default: return false
        }
    }

    /// The rule that `x-errand-pagination` states.
    private static func rule(_ stated: Node, _ itemsKey: String?) -> String? {
        let parameter = Text.literal(stated["parameter"]?.string ?? "")
        let items = itemsKey.map { ", items: [\(Text.literal($0))]" } ?? ""
        switch stated["style"]?.string {
        case "link": return ".link"
        case "cursor":
            let path = (stated["cursor"]?.string ?? "").split(separator: ".").map(String.init)
            return ".cursor(\(parameter), at: \(list(path)))"
        case "offset": return ".offset(\(parameter)\(items))"
        case "number": return ".number(\(parameter)\(items))"
        default: return nil
        }
    }

    private static func list(_ path: [String]) -> String {
        "[" + path.map { Text.literal($0) }.joined(separator: ", ") + "]"
    }

    /// The keys that lead to a member with the name of the parameter, in an object for the next page.
    private func path(toNext parameter: String, in page: Declaration.Structure) -> [String]? {
        for property in page.properties where property.key.lowercased().hasPrefix("next") {
            guard case .declared(let key) = property.type,
                case .structure(let next)? = types.declarations[key]?.body,
                next.properties.contains(where: { $0.key == parameter })
            else { continue }
            return [property.key, parameter]
        }
        return nil
    }

    /// The keys that lead to one of some members, in the page or in an object in it.
    private func path(to keys: Set<String>, in page: Declaration.Structure) -> [String]? {
        func isCursor(_ type: SwiftType) -> Bool {
            type == .builtin("String") || type == .builtin("Int") || type == .builtin("Int64")
        }
        if let found = page.properties.first(where: { keys.contains($0.key) && isCursor($0.type) })
        {
            return [found.key]
        }
        for property in page.properties {
            guard case .declared(let key) = property.type,
                case .structure(let inner)? = types.declarations[key]?.body,
                let found = inner.properties.first(where: {
                    keys.contains($0.key) && isCursor($0.type)
                })
            else { continue }
            return [property.key, found.key]
        }
        return nil
    }
}
