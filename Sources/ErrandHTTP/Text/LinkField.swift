/// A parsed `Link` field (RFC 8288 §3); a strict, pure parser.
///
/// A malformed field has no links: a part of it could be a link to another page.
package struct LinkField: Equatable {
    /// One link: the text of its target, and its parameters with names in lower case.
    package struct Value: Equatable {
        package var target: String
        /// Of several parameters with one name, the first counts (RFC 8288 §3.3, §3.4).
        package var parameters: [String: String] = [:]
        /// The names of the parameters, in order.
        package var names: [String] = []
    }

    /// The links, in order.
    package var values: [Value] = []

    /// The largest number of links in a field, and of parameters of a link; a field with more is malformed.
    package static let maximumCount = 200

    package init?(_ field: String) {
        var reader = FieldReader(field)
        while !reader.isAtEnd {
            // Empty elements are allowed (RFC 9110 §5.6.1.2).
            if reader.take(UInt8(ascii: ",")) {
                _ = reader.skipSpaces()
                continue
            }
            guard values.count < Self.maximumCount, let target = reader.bracketed(),
                let (parameters, names) = Self.parameters(&reader)
            else { return nil }
            values.append(Value(target: target, parameters: parameters, names: names))
            guard reader.isAtEnd || reader.current == UInt8(ascii: ",") else { return nil }
        }
    }

    private static func parameters(
        _ reader: inout FieldReader
    ) -> (values: [String: String], names: [String])? {
        var parameters: [String: String] = [:]
        var names: [String] = []
        var count = 0
        _ = reader.skipSpaces()
        while reader.take(UInt8(ascii: ";")) {
            _ = reader.skipSpaces()
            // Empty parameters are allowed (RFC 8288 §3).
            guard let name = reader.token()?.lowercased() else { continue }
            var value = ""
            _ = reader.skipSpaces()
            if reader.take(UInt8(ascii: "=")) {
                _ = reader.skipSpaces()
                let isQuoted = reader.current == UInt8(ascii: "\"")
                guard let text = isQuoted ? reader.quoted() : reader.token() else { return nil }
                value = text
                _ = reader.skipSpaces()
            }
            count += 1
            guard count <= maximumCount else { return nil }
            guard parameters[name] == nil else { continue }
            parameters[name] = value
            names.append(name)
        }
        return (parameters, names)
    }
}
