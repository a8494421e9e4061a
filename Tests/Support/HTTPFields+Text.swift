package import HTTPTypes

extension HTTPFields {
    /// Makes fields from names and values, in order; leaves out invalid names.
    package init(text fields: [(String, String)]) {
        self.init()
        for (text, value) in fields {
            if let name = HTTPField.Name(text) { append(HTTPField(name: name, value: value)) }
        }
    }

    /// Makes fields from names and values, sorted by name; leaves out invalid names.
    package init(text fields: [String: String]) {
        self.init(text: fields.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
    }
}
