package import HTTPTypes

extension Cookie {
    /// Adds the jar's cookies after the request's own, except those with the name of an own cookie.
    package static func add(_ cookies: [Cookie], to headers: inout HTTPFields) {
        let own = headers[values: .cookie]
        let names = Set(own.joined(separator: ";").split(separator: ";").map(name))
        let added = cookies.filter { !names.contains($0.name) }.map(\.pair)
        guard !added.isEmpty else { return }
        headers[fields: .cookie] = []
        // Not the subscript of HTTPFields, which would split the value; HTTP/1.1 requires one field
        // (RFC 6265bis §5.8.1).
        let value = (own.filter { !$0.isEmpty } + added).joined(separator: "; ")
        headers.append(HTTPField(name: .cookie, value: value))
    }

    private static func name(_ pair: Substring) -> String {
        guard let equals = pair.utf8.firstIndex(of: UInt8(ascii: "=")) else { return "" }
        return pair[..<equals].filter { $0 != " " && $0 != "\t" }
    }
}
