import ErrandCore

/// URLs as logs and traces show them: without user and fragment, with `REDACTED` in place of the values in the query.
struct SanitizedURL: Sendable {
    /// The names of query parameters whose values are shown.
    var visibleQueryNames: Set<String> = []

    private static let placeholder = "REDACTED"
    /// A longer path is abbreviated in the text of a line.
    private static let maximumPathLength = 32

    /// The whole URL, for the attribute `url.full`.
    func text(_ url: HTTPURL) -> String {
        let address = url.scheme.map { "\($0)://\(url.authority)" } ?? ""
        guard let query = url.query else { return address + url.path }
        return "\(address)\(url.path)?\(text(ofQuery: query))"
    }

    private func text(ofQuery query: String) -> String {
        query.pieces(at: "&", keepingEmpty: true).map { item in
            guard !item.isEmpty else { return "" }
            // A parameter without a name is a value.
            guard let end = item.firstIndex(ofByte: "=") else { return Self.placeholder }
            let name = item[..<end]
            return visibleQueryNames.contains(String(name))
                ? String(item) : "\(name)=\(Self.placeholder)"
        }.joined(separator: "&")
    }

    /// Host and path, such as `api.example.com/repos/…/issues/4`.
    ///
    /// Of a path with more than 32 characters and four segments, the first segment and the last two are shown.
    static func brief(_ url: HTTPURL) -> String { url.authority + brief(path: url.path) }

    private static func brief(path: String) -> String {
        guard path.count > maximumPathLength else { return path }
        let segments = path.pieces(at: "/")
        guard segments.count > 4 else { return path }
        return "/\(segments[0])/…/\(segments[segments.count - 2])/\(segments[segments.count - 1])"
    }
}
