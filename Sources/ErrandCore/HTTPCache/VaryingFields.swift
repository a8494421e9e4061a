package import HTTPTypes

/// Which request headers chose an answer: the names in `Vary` (RFC 9110 §12.5.5).
package struct VaryingFields: Sendable, Hashable {
    /// In lower case, sorted, each once.
    package let names: [String]
    /// `Vary: *`: no later request is like this one.
    package let isEverything: Bool

    package init(_ headers: HTTPFields) {
        var names: Set<String> = []
        for value in headers[values: .vary] {
            for element in ListElements(value) { names.insert(element.lowercased()) }
        }
        isEverything = names.contains("*")
        self.names = names.sorted()
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
            return text + ":" + values.joined(separator: ",")
        }.joined(separator: "\n")
    }
}
