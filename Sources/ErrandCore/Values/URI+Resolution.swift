extension URI {
    /// Splits text into components and encodes what they may not hold.
    ///
    /// Spaces and characters beyond ASCII become percent escapes, those of a host `xn--…`; escapes stay as
    /// they are; scheme and host become lower case. Spaces around the whole are dropped.
    ///
    /// - Throws: ``RequestError/Code/invalidURL`` for control characters (CR, LF and NUL among them), a port
    ///   outside of 1 to 65535 and a host that can be none.
    public init(parsing text: String) throws(RequestError) {
        self = try URIParser.parse(text)
    }

    /// What a reference means on a page with this address (RFC 3986 §5.2), such as a `Location` header.
    ///
    /// - Throws: ``RequestError/Code/invalidURL``, as ``init(parsing:)``.
    public static func resolve(
        _ reference: String, against base: URI
    ) throws(RequestError) -> URI {
        try URI(parsing: reference).resolved(against: base)
    }

    /// This reference, resolved against a base (RFC 3986 §5.2.2, strictly).
    public func resolved(against base: URI) -> URI {
        var target = self
        if scheme != nil || host != nil {
            target.scheme = scheme ?? base.scheme
            target.path = Self.removingDotSegments(path)
            return target
        }
        target.scheme = base.scheme
        target.userInfo = base.userInfo
        target.host = base.host
        target.port = base.port
        if path.isEmpty {
            target.path = base.path
            target.query = query ?? base.query
        } else if path.utf8.first == UInt8(ascii: "/") {
            target.path = Self.removingDotSegments(path)
        } else {
            target.path = Self.removingDotSegments(base.merging(path))
        }
        return target
    }

    /// A relative path behind the base's directory (RFC 3986 §5.2.3).
    private func merging(_ reference: String) -> String {
        if host != nil && path.isEmpty { return "/" + reference }
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return reference }
        var merged = String(path[...slash])
        merged += reference
        return merged
    }

    /// The path without `.` and `..` (RFC 3986 §5.2.4).
    static func removingDotSegments(_ path: String) -> String {
        guard mayHoldDotSegments(path) else { return path }
        let isAbsolute = path.utf8.first == UInt8(ascii: "/")
        let segments = path.utf8.dropFirst(isAbsolute ? 1 : 0)
            .split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        var kept: [Substring] = []
        for (index, segment) in segments.enumerated() {
            let isLast = index == segments.count - 1
            switch Substring(segment) {
            case ".":
                if isLast { kept.append("") }
            case "..":
                if !kept.isEmpty { kept.removeLast() }
                if isLast { kept.append("") }
            case let segment:
                kept.append(segment)
            }
        }
        return (isAbsolute ? "/" : "") + kept.joined(separator: "/")
    }

    /// Whether a segment begins with a dot: most paths have none and need no work.
    private static func mayHoldDotSegments(_ path: String) -> Bool {
        var isAtStart = true
        for byte in path.utf8 {
            if isAtStart && byte == UInt8(ascii: ".") { return true }
            isAtStart = byte == UInt8(ascii: "/")
        }
        return false
    }

    /// Adds to the query, behind `&` where there is one already (row URL-5).
    mutating func appendQuery(_ addition: String) {
        guard !addition.isEmpty else { return }
        guard let query, !query.isEmpty else {
            query = addition
            return
        }
        self.query =
            query.utf8.last == UInt8(ascii: "&") ? query + addition : "\(query)&\(addition)"
    }
}
