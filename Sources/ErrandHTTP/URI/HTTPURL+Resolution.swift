extension HTTPURL {
    /// This reference resolved against a base URI (strict, RFC 3986 §5.2.2).
    public func resolved(against base: HTTPURL) -> HTTPURL {
        guard isValid, base.isValid else { return isValid ? base : self }
        if scheme != nil || host != nil {
            return replacing(
                scheme: scheme ?? base.scheme, authority: self,
                path: Self.removingDotSegments(path), query: query)
        }
        if path.isEmpty {
            return replacing(
                scheme: base.scheme, authority: base, path: base.path, query: query ?? base.query)
        }
        let isAbsolute = path.utf8.first == UInt8(ascii: "/")
        return replacing(
            scheme: base.scheme, authority: base,
            path: Self.removingDotSegments(isAbsolute ? path : base.merging(path)), query: query)
    }

    /// This path below the path of a base URL, with one slash between them, and this query after that of the base.
    ///
    /// A slash at the start of this path is ignored. Without a path, the base's path is kept as it is written.
    ///
    /// - Parameter segments: Encoded segments between both paths; `nil` for none.
    package func joined(below base: HTTPURL, through segments: String? = nil) -> HTTPURL {
        var joined = base.path
        if let segments {
            if joined.utf8.last != UInt8(ascii: "/") { joined += "/" }
            joined += segments
        }
        if !path.isEmpty {
            switch (joined.utf8.last == UInt8(ascii: "/"), path.utf8.first == UInt8(ascii: "/")) {
            case (true, true): joined.removeLast()
            case (false, false): joined += "/"
            default: break
            }
            joined += path
        }
        if joined.isEmpty { joined = "/" }
        var query = query
        if let shared = base.query, !shared.isEmpty {
            query = query.flatMap { $0.isEmpty ? nil : Self.query(shared, and: $0) } ?? shared
        } else if path.isEmpty, query?.isEmpty == true {
            query = nil
        }
        return HTTPURL(
            canonicalScheme: base.scheme, userInfo: base.userInfo, host: base.host,
            port: base.port, path: Self.removingDotSegments(joined), query: query,
            fragment: fragment)
    }

    private static func query(_ one: String, and other: String) -> String {
        one.utf8.last == UInt8(ascii: "&") ? one + other : "\(one)&\(other)"
    }

    /// The URI with other components of valid URIs.
    private func replacing(scheme: String?, authority: HTTPURL, path: String, query: String?)
        -> HTTPURL
    {
        HTTPURL(
            canonicalScheme: scheme, userInfo: authority.userInfo, host: authority.host,
            port: authority.port, path: path, query: query, fragment: fragment)
    }

    /// Merges a relative path with the directory of the base path (RFC 3986 §5.2.3).
    private func merging(_ reference: String) -> String {
        if host != nil && path.isEmpty { return "/" + reference }
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return reference }
        var merged = String(path[..<path.utf8.index(after: slash)])
        merged += reference
        return merged
    }

    /// The path without `.` and `..` segments (RFC 3986 §5.2.4).
    package static func removingDotSegments(_ path: String) -> String {
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

    /// Whether a segment starts with a dot; most paths have none, so this check avoids the split.
    package static func mayHoldDotSegments(_ path: String) -> Bool {
        var path = path
        return path.withUTF8 { bytes in
            var isAtStart = true
            for byte in bytes {
                if isAtStart && byte == UInt8(ascii: ".") { return true }
                isAtStart = byte == UInt8(ascii: "/")
            }
            return false
        }
    }

    /// Appends to the query, after `&` if it is not empty.
    package mutating func appendQuery(_ addition: String) {
        guard !addition.isEmpty else { return }
        guard let query, !query.isEmpty else {
            query = addition
            return
        }
        self.query = Self.query(query, and: addition)
    }
}
