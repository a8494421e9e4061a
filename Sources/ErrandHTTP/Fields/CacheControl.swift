package import HTTPTypes

/// The `Cache-Control` directives of a request or a response (RFC 9111 §5.2).
///
/// Names are compared case-insensitively, and arguments may be tokens or quoted strings (§5.2).
/// The first of repeated directives is used (§4.2.1); unknown directives are ignored (§5.2.3).
package struct CacheControl: Sendable, Hashable {
    /// The directives in order: the name in lower case, and the argument without quotes.
    private var directives: [(name: String, argument: String?)]

    package static func == (one: CacheControl, other: CacheControl) -> Bool {
        one.directives.elementsEqual(other.directives) { $0 == $1 }
    }

    package func hash(into hasher: inout Hasher) {
        for directive in directives {
            hasher.combine(directive.name)
            hasher.combine(directive.argument)
        }
    }

    /// Parses all `Cache-Control` fields of the headers.
    package init(_ headers: HTTPFields) {
        self.init(headers[values: .cacheControl])
    }

    /// Parses field values.
    package init(_ values: [String]) {
        directives = []
        for value in values { read(value) }
    }

    /// Whether a directive is present, with or without an argument.
    package func has(_ name: String) -> Bool {
        directives.contains { $0.name == name }
    }

    /// Whether a response must not be used without successful revalidation: `no-cache` without
    /// field names (§5.2.2.4).
    ///
    /// A list without any valid field name counts as none.
    package var requiresRevalidation: Bool {
        directives.contains { $0.name == "no-cache" && Self.fieldNames($0.argument).isEmpty }
    }

    /// The fields that must not be used without successful revalidation: those that `no-cache`
    /// names (§5.2.2.4).
    package var fieldsToRevalidate: Set<HTTPField.Name> {
        var names: Set<HTTPField.Name> = []
        for directive in directives where directive.name == "no-cache" {
            names.formUnion(Self.fieldNames(directive.argument))
        }
        return names
    }

    /// The fields of a response that must not be used without successful revalidation.
    ///
    /// Most responses have none, and are not parsed.
    package static func fieldsToRevalidate(_ headers: HTTPFields) -> Set<HTTPField.Name> {
        let values = headers[values: .cacheControl]
        guard values.contains(where: { $0.lowercasedASCII().contains(bytes: "no-cache=") }) else {
            return []
        }
        return CacheControl(values).fieldsToRevalidate
    }

    private static func fieldNames(_ argument: String?) -> [HTTPField.Name] {
        guard let argument else { return [] }
        return ListElements(argument).compactMap { HTTPField.Name(String($0)) }
    }

    /// Whether a directive is present without an argument.
    ///
    /// `max-stale` without an argument accepts any age; the argument is a limit (§5.2.1.2).
    package func isBare(_ name: String) -> Bool {
        directives.first { $0.name == name }.map { $0.argument == nil } ?? false
    }

    /// The seconds that a directive specifies.
    ///
    /// An argument that is not a number of seconds is ``Seconds/invalid``: a cache should treat
    /// such a response as stale (§4.2.1).
    package func seconds(_ name: String) -> Seconds {
        guard let directive = directives.first(where: { $0.name == name }) else { return .absent }
        guard let argument = directive.argument, let number = Self.deltaSeconds(argument) else {
            return .invalid
        }
        return .number(number)
    }

    /// The argument of a directive that takes seconds.
    package enum Seconds: Sendable, Hashable {
        /// The directive is missing.
        case absent
        /// The directive is present, but its argument is missing or is not a number.
        case invalid
        /// The directive is present with this number of seconds.
        case number(Int)
    }

    /// Parses digits as a number of seconds, at most 2^31 (RFC 9111 §1.2.2).
    package static func deltaSeconds(_ text: some StringProtocol) -> Int? {
        guard !text.isEmpty else { return nil }
        let limit = 1 << 31
        var number = 0
        for byte in text.utf8 {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            number = min(limit, number * 10 + Int(byte - UInt8(ascii: "0")))
        }
        return number
    }

    private mutating func read(_ value: String) {
        for element in ListElements(value) {
            let parts = element.pieces(at: "=", maxSplits: 1, keepingEmpty: true)
            let name = parts[0].trimmingBlanks().lowercasedASCII()
            guard !name.isEmpty else { continue }
            let argument = parts.count > 1 ? Self.unquoted(parts[1].trimmingBlanks()) : nil
            directives.append((name, argument))
        }
    }

    private static func unquoted(_ text: Substring) -> String {
        guard let inner = text.dropping(prefix: "\"")?.dropping(suffix: "\"") else {
            return String(text)
        }
        var result: [UInt8] = []
        var isEscaped = false
        for byte in inner.utf8 {
            if byte == UInt8(ascii: "\\"), !isEscaped {
                isEscaped = true
                continue
            }
            isEscaped = false
            result.append(byte)
        }
        return String(decoding: result, as: UTF8.self)
    }
}
