/// A parsed `Link` field (RFC 8288 §3); a pure parser.
///
/// A malformed member is no link: a part of it could be a link to another page. The other members remain.
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

    /// The largest number of links in a field, and of parameters of a link; a field or link with more is malformed.
    package static let maximumCount = 200

    /// The links of a well-formed field.
    package init?(_ field: String) {
        guard let links = Self(reading: field), links.isComplete else { return nil }
        self = links
    }

    /// The well-formed links of a field, whatever the others are (RFC 8288 appendix B); none if there are too many.
    package static func links(of field: String) -> [Value] { Self(reading: field)?.values ?? [] }

    /// Whether all members of the field were understood.
    private var isComplete = true

    /// Reads member by member; `nil` if there are too many links.
    private init?(reading field: String) {
        var reader = FieldReader(field)
        while !reader.isAtEnd {
            // Empty elements are allowed (RFC 9110 §5.6.1.2).
            if reader.take(UInt8(ascii: ",")) {
                _ = reader.skipSpaces()
                continue
            }
            var rest = reader
            if let value = Self.value(&rest) {
                guard values.count < Self.maximumCount else { return nil }
                values.append(value)
                reader = rest
            } else {
                isComplete = false
                // Without its end, the member could contain all that follows.
                guard reader.skipMember() else { return }
            }
        }
    }

    /// Reads one member up to its comma; `nil` if it is malformed.
    private static func value(_ reader: inout FieldReader) -> Value? {
        guard let target = reader.bracketed(), let (parameters, names) = parameters(&reader),
            reader.isAtEnd || reader.current == UInt8(ascii: ",")
        else { return nil }
        return Value(target: target, parameters: parameters, names: names)
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
            guard let name = reader.token()?.lowercasedASCII() else { continue }
            var value = ""
            _ = reader.skipSpaces()
            if reader.take(UInt8(ascii: "=")) {
                _ = reader.skipSpaces()
                let isQuoted = reader.current == UInt8(ascii: "\"")
                guard let text = isQuoted ? reader.quoted() : reader.unquoted() else { return nil }
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
