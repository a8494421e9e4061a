import Foundation
package import HTTPTypes

/// Which request headers chose an answer: the names in `Vary` (RFC 9110 §12.5.5).
package struct VaryingFields: Sendable, Hashable {
    /// More names than this are taken for `*`: a server that lists them all means it.
    private static let limit = 32
    /// Lists of words whose case means nothing; only their spelling is evened out, as order may mean something.
    private static let caseless: Set<String> = [
        "accept-charset", "accept-encoding", "accept-language",
    ]

    /// In lower case, sorted, each once.
    package let names: [String]
    /// `Vary: *`, or what cannot be told from it: no later request is like this one.
    package let isEverything: Bool

    package init(_ headers: HTTPFields) {
        var names: Set<String> = []
        var isEverything = false
        for value in headers[values: .vary] {
            for element in ListElements(value) where !isEverything {
                names.insert(element.lowercased())
                // Also `*`, and what is no name: whatever it means, it is not understood.
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

    /// The values of a request that chose, as one text: equal texts, same choice (RFC 9111 §4.1).
    ///
    /// Lines of one name are joined and blanks around elements dropped; a header that is missing is like no other.
    package func selection(of headers: HTTPFields) -> String {
        names.map { text in
            guard let name = HTTPField.Name(text), headers.contains(name) else { return text }
            let values = headers[values: name].flatMap { ListElements($0).map(String.init) }
            let joined = values.joined(separator: ",")
            return text + ":" + (Self.caseless.contains(text) ? joined.lowercased() : joined)
        }.joined(separator: "\n")
    }

    /// A digest of the selection, for keys.
    ///
    /// Cookies and tokens may have chosen, and a key stands in the store as it is.
    package func digest(of headers: HTTPFields) -> String {
        SHA256.hex(Data(selection(of: headers).utf8))
    }
}
