package import HTTPTypes

extension Cookie {
    /// Adds the jar's cookies after the request's own, except those with the name of an own cookie.
    package static func add(_ cookies: [Cookie], to headers: inout HTTPFields) {
        let own = headers[values: .cookie]
        let names = Set(own.joined(separator: ";").pieces(at: ";").map(name))
        let added = cookies.filter { !names.contains(Array($0.name.utf8)) }.map(\.pairBytes)
        guard !added.isEmpty else { return }
        headers[fields: .cookie] = []
        // Not the subscript of HTTPFields, which would split the value; HTTP/1.1 requires one field
        // (RFC 6265bis §5.8.1).
        let pairs = own.filter { !$0.isEmpty }.map { Array($0.utf8) } + added
        let value = Array(pairs.joined(separator: "; ".utf8))
        headers.append(HTTPField(name: .cookie, value: value))
    }

    /// The bytes of a pair's name; equivalent characters name different cookies.
    private static func name(_ pair: Substring) -> [UInt8] {
        guard let equals = pair.utf8.firstIndex(of: UInt8(ascii: "=")) else { return [] }
        return pair.utf8[..<equals].filter { $0 != 0x20 && $0 != 0x09 }
    }
}
