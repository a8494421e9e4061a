extension URI {
    /// This reference resolved against a base URI (strict, RFC 3986 §5.2.2).
    public func resolved(against base: URI) -> URI {
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

    /// The URI without its fragment, with a slash at the end of its path.
    package var asDirectory: URI {
        var directory = self
        if fragment != nil { directory.fragment = nil }
        if path.utf8.last != UInt8(ascii: "/") { directory.path += "/" }
        return directory
    }

    /// The URI with other components of valid URIs.
    private func replacing(scheme: String?, authority: URI, path: String, query: String?) -> URI {
        URI(
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
        self.query =
            query.utf8.last == UInt8(ascii: "&") ? query + addition : "\(query)&\(addition)"
    }
}
