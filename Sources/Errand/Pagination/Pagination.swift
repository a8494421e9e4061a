public import ErrandCore
import ErrandJSON

/// The rule by which the requests of the pages of a list follow from each other.
///
///     for try await page in ListIssues(repository: "errand").pages(.link) { show(page.output) }
///
/// ``link`` follows the `Link` header; ``cursor(_:at:)``, ``offset(_:limit:items:total:)`` and
/// ``number(_:from:limit:items:)`` change arguments. Create your own rule with ``init(first:next:)``.
nonisolated public struct Pagination: Sendable {
    /// The request of a further page.
    public enum Next: Sendable {
        /// Send the request to this URL, which contains all arguments of the query.
        ///
        /// A relative reference is resolved against the URL of the page before. It replaces the URL and
        /// the query arguments of the endpoint and of `Configuration.prepare`; shared arguments are added where the URL
        /// has none of the same name. The URL must have the origin of the page before, without its
        /// redirects, because the request has its credentials.
        case url(String)
        /// Send the request with these arguments, which replace those of the endpoint with the same name.
        case arguments(Arguments)
    }

    /// The arguments of the first page, in addition to the endpoint's.
    let first: Arguments
    /// The request after a response, its number from 1, and the number of items received before it.
    let next: @Sendable (Response, Int, inout Int) throws -> Next?

    /// Creates a rule.
    ///
    /// - Parameters:
    ///   - first: Arguments of the first page; they replace those of the endpoint with the same name. Default none.
    ///   - next: Returns the request after a response, `nil` after the last one. Gets the number of the received
    ///     page, from 1. An error ends the sequence with ``RequestError/Code/processingFailed``, a thrown
    ///     ``RequestError`` unchanged.
    public init(
        first: Arguments = Arguments(), next: @escaping @Sendable (Response, Int) throws -> Next?
    ) {
        self.first = first
        self.next = { response, page, _ in try next(response, page) }
    }

    private init(
        first: Arguments,
        counting next: @escaping @Sendable (Response, Int, inout Int) throws -> Next?
    ) {
        self.first = first
        self.next = next
    }

    /// Follows the link `next` of the `Link` header (RFC 8288).
    public static var link: Pagination { .link(relation: "next") }

    /// Follows the link with a relation type in the `Link` header (RFC 8288).
    public static func link(relation: String) -> Pagination {
        Pagination { response, _ in response.links[relation].map { .url($0.string) } }
    }

    /// Sends the cursor that a page contains as an argument of the next page.
    ///
    ///     GetEvents().pages(.cursor("after", at: ["meta", "next"]))
    ///
    /// - Parameters:
    ///   - name: The name of the argument.
    ///   - path: The keys that lead to the cursor in the JSON of a page: a string or an integer. A page where it is
    ///     missing, null or an empty string is the last one. Another type ends the sequence with
    ///     ``RequestError/Code/undecodable``.
    public static func cursor(_ name: String, at path: [String]) -> Pagination {
        cursor(name) { response in
            let found = try member(of: response, at: path)
            guard found.exists, !found.isNull else { return nil }
            if let cursor = found.string ?? found.int.map(String.init) { return cursor }
            throw unusable(
                "The cursor at \(text(of: path)) is neither a string nor an integer.", response)
        }
    }

    /// Sends the cursor that a closure finds as an argument of the next page.
    ///
    ///     GetEvents().pages(.cursor("after") { $0.header("X-Next-Cursor") })
    ///
    /// - Parameters:
    ///   - name: The name of the argument.
    ///   - find: Returns the cursor of a response; `nil` or an empty string for the last page.
    public static func cursor(
        _ name: String, _ find: @escaping @Sendable (Response) throws -> String?
    ) -> Pagination {
        Pagination { response, _ in
            guard let cursor = try find(response), !cursor.isEmpty else { return nil }
            return .arguments([name: cursor])
        }
    }

    /// Sends the number of items before a page as an argument.
    ///
    ///     GetEvents().pages(.offset("offset", limit: ("limit", 50), items: ["events"]))
    ///
    /// A page without items is the last one: a server may send fewer items than the limit. With `total`, no page is
    /// requested after the last item. If a server might ignore the argument, give `pages` a limit: each page then
    /// has items.
    ///
    /// - Parameters:
    ///   - name: The name of the argument, which is 0 for the first page.
    ///   - limit: The name and the value of the argument that limits the items of a page. Default `nil`: none is sent.
    ///   - items: The keys that lead to the array of items in the JSON of a page. Default none: the page is the
    ///     array. Without an array there, the sequence ends with ``RequestError/Code/undecodable``.
    ///   - total: The keys that lead to the number of all items. Default `nil`.
    public static func offset(
        _ name: String, limit: (name: String, size: Int)? = nil, items: [String] = [],
        total: [String]? = nil
    ) -> Pagination {
        Pagination(first: arguments(name, 0, limit)) { response, _, received in
            let count = try itemCount(of: response, at: items)
            received += count
            guard count > 0 else { return nil }
            if let total, let all = try member(of: response, at: total).int, received >= all {
                return nil
            }
            return .arguments(arguments(name, received, limit))
        }
    }

    /// Sends the number of a page as an argument; a page without items is the last one.
    ///
    ///     GetEvents().pages(.number("page"))
    ///
    /// If a server might repeat its last page for higher numbers, give `pages` a limit.
    ///
    /// - Parameters:
    ///   - name: The name of the argument.
    ///   - start: The number of the first page. Default 1.
    ///   - limit: The name and the value of the argument that limits the items of a page. Default `nil`: none is sent.
    ///   - items: The keys that lead to the array of items in the JSON of a page. Default none: the page is the
    ///     array. Without an array there, the sequence ends with ``RequestError/Code/undecodable``.
    public static func number(
        _ name: String, from start: Int = 1, limit: (name: String, size: Int)? = nil,
        items: [String] = []
    ) -> Pagination {
        Pagination(first: arguments(name, start, limit)) { response, page, _ in
            guard try itemCount(of: response, at: items) > 0 else { return nil }
            return .arguments(arguments(name, start + page, limit))
        }
    }

    private static func arguments(
        _ name: String, _ value: Int, _ limit: (name: String, size: Int)?
    ) -> Arguments {
        var arguments: Arguments = [name: value]
        if let limit { arguments[limit.name] = limit.size }
        return arguments
    }

    private static func itemCount(of response: Response, at path: [String]) throws -> Int {
        guard let items = try member(of: response, at: path).array else {
            throw unusable(
                "The page has no array at \(text(of: path)). Name its keys in items.", response)
        }
        return items.count
    }

    private static func member(of response: Response, at path: [String]) throws -> JSON {
        do {
            return try path.reduce(response.parsedJSON()) { $0[$1] }
        } catch {
            var fault = unusable("The page is not JSON: \(error)", response)
            fault.underlying = error
            throw fault
        }
    }

    private static func text(of path: [String]) -> String {
        path.isEmpty ? "$" : "$." + path.joined(separator: ".")
    }

    private static func unusable(_ message: String, _ response: Response) -> RequestError {
        RequestError(.undecodable, stage: .decode, message, response: response)
    }
}

nonisolated extension Pagination.Next: CustomStringConvertible, CustomReflectable {
    /// The URL without user info, query and fragment, or the names of the arguments.
    public var description: String {
        switch self {
        case .url(let text): "url(\((try? HTTPURL(parsing: text))?.redacted ?? "an invalid URL"))"
        case .arguments(let arguments): "arguments(\(arguments.names.joined(separator: ", ")))"
        }
    }

    /// No children, because the values may be secret.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
