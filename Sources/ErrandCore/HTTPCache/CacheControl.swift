package import HTTPTypes

/// The directives of `Cache-Control`, of a request or of an answer (RFC 9111 §5.2).
///
/// Names are compared without regard to case, arguments may be tokens or quoted strings (§5.2), of a directive
/// that comes twice the first counts (§4.2.1), and what is unknown is passed over (§5.2.3).
package struct CacheControl: Sendable, Hashable {
    /// A directive as it was written: its name in lower case, and its argument.
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

    /// The directives of all `Cache-Control` fields among the headers.
    package init(_ headers: HTTPFields) {
        self.init(headers[values: .cacheControl])
    }

    /// The directives of some field values.
    package init(_ values: [String]) {
        directives = []
        for value in values { read(value) }
    }

    /// Whether a directive is there, with or without an argument.
    package func has(_ name: String) -> Bool {
        directives.contains { $0.name == name }
    }

    /// Whether a directive is there without an argument.
    ///
    /// `max-stale` alone means any age; with one it is a limit.
    package func isBare(_ name: String) -> Bool {
        directives.first { $0.name == name }.map { $0.argument == nil } ?? false
    }

    /// The seconds of a directive.
    ///
    /// What is no number of seconds is ``Seconds/invalid``: a cache had better take such an answer for stale
    /// (§4.2.1).
    package func seconds(_ name: String) -> Seconds {
        guard let directive = directives.first(where: { $0.name == name }) else { return .absent }
        guard let argument = directive.argument, let number = Self.deltaSeconds(argument) else {
            return .invalid
        }
        return .number(number)
    }

    /// What stands behind a directive that takes seconds.
    package enum Seconds: Sendable, Hashable {
        /// The directive is not there.
        case absent
        /// It is there, and its argument is missing or no number.
        case invalid
        /// It is there.
        case number(Int)
    }

    /// Digits as a number of seconds; what is larger than 2^31 is that (RFC 9111 §1.2.2).
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
            let parts = element.split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = parts[0].trimmingBlanks().lowercased()
            guard !name.isEmpty else { continue }
            let argument = parts.count > 1 ? Self.unquoted(parts[1].trimmingBlanks()) : nil
            directives.append((name, argument))
        }
    }

    private static func unquoted(_ text: Substring) -> String {
        guard text.first == "\"", text.last == "\"", text.utf8.count >= 2 else {
            return String(text)
        }
        var result = ""
        var isEscaped = false
        for character in text.dropFirst().dropLast() {
            if character == "\\", !isEscaped {
                isEscaped = true
                continue
            }
            isEscaped = false
            result.append(character)
        }
        return result
    }
}
