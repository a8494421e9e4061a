package import HTTPTypes

/// The `Cache-Control` directives of a request or a response (RFC 9111 §5.2).
///
/// Names are compared case-insensitively, and arguments may be tokens or quoted strings (§5.2).
/// The first of repeated directives is used (§4.2.1); unknown directives are ignored (§5.2.3).
package struct CacheControl: Sendable, Hashable {
    /// A directive that the cache knows.
    package enum Directive: Int, Sendable, CaseIterable {
        // The first ones have numbers of seconds.
        case maxAge, minFresh, maxStale, staleWhileRevalidate, staleIfError
        case noCache, noStore, mustRevalidate, mustUnderstand, `public`, `private`, onlyIfCached

        fileprivate static let names: [[UInt8]] = [
            "max-age", "min-fresh", "max-stale", "stale-while-revalidate", "stale-if-error",
            "no-cache", "no-store", "must-revalidate", "must-understand", "public", "private",
            "only-if-cached",
        ].map { Array($0.utf8) }

        fileprivate init?(_ name: Slice<UnsafeRawBufferPointer>) {
            let found = Self.names.firstIndex { known in
                known.count == name.count
                    && known.elementsEqual(name) { $0 == $1.asciiLowercase }
            }
            guard let found else { return nil }
            self.init(rawValue: found)
        }

        fileprivate var bit: UInt16 { 1 << UInt16(rawValue) }
    }

    /// The bits of the directives that are present, and of those that have no argument.
    private var present: UInt16 = 0
    private var bare: UInt16 = 0
    /// The number of seconds of each directive that has one; ``invalidNumber`` for other arguments.
    private var numbers = SIMD8<UInt32>(repeating: 0)
    private static let invalidNumber = UInt32.max
    /// The fields that `no-cache` names.
    private var namedFields: [HTTPField.Name] = []
    /// Whether a response must not be used without successful revalidation: `no-cache` without
    /// field names (§5.2.2.4).
    ///
    /// A list without any valid field name counts as none.
    package private(set) var requiresRevalidation = false

    /// Parses all `Cache-Control` fields of the headers.
    package init(_ headers: HTTPFields) {
        for field in headers where field.name.canonicalName.utf8.count == 13 {
            guard field.name == .cacheControl else { continue }
            field.withUnsafeBytesOfValue { read(UnsafeRawBufferPointer($0)) }
        }
    }

    /// Parses field values.
    package init(_ values: [String]) {
        for var value in values { value.withUTF8 { read(UnsafeRawBufferPointer($0)) } }
    }

    /// Whether a directive is present, with or without an argument.
    package func has(_ directive: Directive) -> Bool { present & directive.bit != 0 }

    /// The fields that must not be used without successful revalidation: those that `no-cache`
    /// names (§5.2.2.4).
    package var fieldsToRevalidate: Set<HTTPField.Name> {
        namedFields.isEmpty ? [] : Set(namedFields)
    }

    /// Whether a directive is present without an argument.
    ///
    /// `max-stale` without an argument accepts any age; the argument is a limit (§5.2.1.2).
    package func isBare(_ directive: Directive) -> Bool { bare & directive.bit != 0 }

    /// The seconds that a directive specifies.
    ///
    /// An argument that is not a number of seconds is ``Seconds/invalid``: a cache should treat
    /// such a response as stale (§4.2.1).
    package func seconds(_ directive: Directive) -> Seconds {
        guard has(directive) else { return .absent }
        guard directive.rawValue <= Directive.staleIfError.rawValue,
            numbers[directive.rawValue] != Self.invalidNumber
        else { return .invalid }
        return .number(Int(numbers[directive.rawValue]))
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
        deltaSeconds(bytes: text.utf8)
    }

    private static func deltaSeconds(bytes: some Collection<UInt8>) -> Int? {
        guard !bytes.isEmpty else { return nil }
        let limit = 1 << 31
        var number = 0
        for byte in bytes {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            number = min(limit, number * 10 + Int(byte - UInt8(ascii: "0")))
        }
        return number
    }

    // MARK: - Parsing

    /// Reads the list of a field value, whose elements are separated as by ``ListElements``.
    private mutating func read(_ value: UnsafeRawBufferPointer) {
        var start = 0
        while start < value.count {
            var (isQuoted, isEscaped) = (false, false)
            var end = start
            var equals: Int?
            while end < value.count {
                let byte = value[end]
                if byte == UInt8(ascii: "="), equals == nil { equals = end }
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\"") {
                    isQuoted.toggle()
                } else if isQuoted {
                    isEscaped = byte == UInt8(ascii: "\\")
                } else if byte == UInt8(ascii: ",") {
                    break
                }
                end += 1
            }
            if let directive = Directive(Self.trimming(value[start..<(equals ?? end)])) {
                add(directive, equals.map { Self.trimming(value[($0 + 1)..<end]) })
            }
            start = end + 1
        }
    }

    private mutating func add(_ directive: Directive, _ argument: Slice<UnsafeRawBufferPointer>?) {
        if directive == .noCache {
            let names = argument.map { Self.fieldNames($0) } ?? []
            namedFields += names
            if names.isEmpty { requiresRevalidation = true }
        }
        guard !has(directive) else { return }
        present |= directive.bit
        if argument == nil { bare |= directive.bit }
        guard directive.rawValue <= Directive.staleIfError.rawValue else { return }
        let number = argument.flatMap { argument in
            Self.isQuoted(argument)
                ? Self.deltaSeconds(bytes: Self.unquoted(argument))
                : Self.deltaSeconds(bytes: argument)
        }
        numbers[directive.rawValue] = number.map { UInt32($0) } ?? Self.invalidNumber
    }

    private static func fieldNames(_ argument: Slice<UnsafeRawBufferPointer>) -> [HTTPField.Name] {
        let list = String(decoding: unquoted(argument), as: UTF8.self)
        return ListElements(list).compactMap { HTTPField.Name(String($0)) }
    }

    private static func trimming(
        _ bytes: Slice<UnsafeRawBufferPointer>
    ) -> Slice<UnsafeRawBufferPointer> {
        func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
        var (start, end) = (bytes.startIndex, bytes.endIndex)
        while start < end, isBlank(bytes[start]) { start += 1 }
        while end > start, isBlank(bytes[end - 1]) { end -= 1 }
        return bytes[start..<end]
    }

    private static func isQuoted(_ argument: Slice<UnsafeRawBufferPointer>) -> Bool {
        let quote = UInt8(ascii: "\"")
        return argument.count >= 2 && argument.first == quote && argument.last == quote
    }

    /// The text of a quoted string; other arguments are unchanged.
    private static func unquoted(_ argument: Slice<UnsafeRawBufferPointer>) -> [UInt8] {
        guard isQuoted(argument) else { return Array(argument) }
        var result: [UInt8] = []
        var isEscaped = false
        for byte in argument.dropFirst().dropLast() {
            if byte == UInt8(ascii: "\\"), !isEscaped {
                isEscaped = true
                continue
            }
            isEscaped = false
            result.append(byte)
        }
        return result
    }
}
