package import ErrandSystem
package import HTTPTypes

/// The names in `Vary`: the request headers that selected a response (RFC 9110 §12.5.5).
package struct VaryingFields: Sendable, Hashable {
    /// The maximum number of names; more are treated like `*`.
    private static let limit = 32
    /// Headers whose list members are case-insensitive.
    ///
    /// Their order is kept, because it may matter.
    private static let caseless: Set<String> = [
        "accept-charset", "accept-encoding", "accept-language",
    ]

    /// The names in lower case, sorted, without duplicates.
    package let names: [String]
    /// Whether the value is `*`, invalid or too long: then no later request matches.
    package let isEverything: Bool

    package init(_ headers: HTTPFields) {
        var names: Set<String> = []
        var isEverything = false
        for value in headers[values: .vary] {
            for element in ListElements(value) where !isEverything {
                names.insert(element.lowercasedASCII())
                // An element that is not a field name is treated like `*`.
                isEverything =
                    element == "*" || names.count > Self.limit
                    || HTTPField.Name(String(element)) == nil
            }
        }
        self.isEverything = isEverything
        self.names = isEverything ? [] : names.sorted()
    }

    package init(names: [String]) {
        self.names = names
        isEverything = false
    }

    /// The values of these headers in a request, as one text; requests with equal texts match
    /// (RFC 9111 §4.1).
    ///
    /// Fields of one name are joined and whitespace around elements is removed. A missing header
    /// differs from every value.
    package func selection(of headers: HTTPFields) -> String {
        names.map { text in
            guard let name = HTTPField.Name(text), headers.contains(name) else { return text }
            let values = headers[values: name].flatMap { ListElements($0).map(String.init) }
            let joined = values.joined(separator: ",")
            return text + ":" + (Self.caseless.contains(text) ? joined.lowercasedASCII() : joined)
        }.joined(separator: "\n")
    }

    /// A digest of the selection, for keys.
    ///
    /// The selection may contain cookies and tokens, which must not appear in a key.
    ///
    /// - Parameter key: The store's key for digests.
    package func digest(of headers: HTTPFields, key: Data) -> String {
        SHA256.hmacHex(Data(selection(of: headers).utf8), key: key)
    }
}
