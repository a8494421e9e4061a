/// Compares paths of cookies (RFC 6265bis §5.1.4).
package enum CookiePath {
    /// The directory of a request's path: the default path of a cookie without `Path`.
    static func defaultPath(of path: String) -> String {
        guard path.utf8.first == UInt8(ascii: "/"),
            let last = path.utf8.lastIndex(of: UInt8(ascii: "/")), last > path.startIndex
        else { return "/" }
        return String(path[..<last])
    }

    /// Whether the cookie's path equals the request's path or is a prefix that ends at a segment boundary.
    package static func matches(request: String, cookie: String) -> Bool {
        let request = request.isEmpty ? "/" : request
        guard let rest = request.dropping(prefix: cookie) else { return false }
        return rest.isEmpty || cookie.utf8.last == UInt8(ascii: "/") || rest.starts(withBytes: "/")
    }
}
