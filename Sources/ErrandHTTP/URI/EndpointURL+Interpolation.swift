public import ErrandSystem

extension EndpointURL {
    /// Collects the literals and the values of an endpoint URL.
    public struct StringInterpolation: StringInterpolationProtocol, Sendable {
        private var text = ""
        private var fault: Fault?
        /// Whether the text has a delimiter after its host, so that no value can be part of a host.
        private var isPastHost = false
        private var startsWithValue = false
        private var hasValues = false
        /// The number of bytes without a query and a fragment; -1 if there is one.
        private var pathLength = 0
        /// The offsets of values of at most two dots, of which the segment is checked at the end.
        private var dotted: [Int] = []
        private var host = HostValues()

        /// Creates storage; text of up to 15 bytes needs none.
        public init(literalCapacity: Int, interpolationCount: Int) {
            if literalCapacity + 2 * interpolationCount > 15 {
                text.reserveCapacity(literalCapacity + 12 * interpolationCount)
            }
        }

        /// Appends text as it is.
        public mutating func appendLiteral(_ literal: String) { text += literal }

        /// Appends a value.
        public mutating func appendInterpolation(_ value: String) { append(value) }
        /// Appends a value, such as a number, a Boolean or an identifier, as its text.
        public mutating func appendInterpolation(_ value: some LosslessStringConvertible) {
            append(value.description)
        }
        /// Appends the raw value.
        public mutating func appendInterpolation<Value: RawRepresentable>(_ value: Value)
        where Value.RawValue: LosslessStringConvertible { append(value.rawValue.description) }
        /// Appends the raw value.
        public mutating func appendInterpolation<
            Value: RawRepresentable & LosslessStringConvertible
        >(
            _ value: Value
        ) where Value.RawValue: LosslessStringConvertible { append(value.rawValue.description) }
        /// Appends the UUID in upper case.
        public mutating func appendInterpolation(_ value: UUID) { append(value.uuidString) }
        /// Appends another endpoint URL, whose values are encoded already.
        public mutating func appendInterpolation(_ url: EndpointURL) { append(url) }
        /// Appends several path segments, which `/` separates; none of them must be empty, `.` or `..`.
        public mutating func appendInterpolation(path value: String) {
            let segments = value.utf8.split(
                separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            append(segments: segments.lazy.map { String(Substring($0)) })
        }
        /// Appends several path segments, none of which must be empty, `.` or `..`.
        public mutating func appendInterpolation(path segments: [String]) {
            append(segments: segments.isEmpty ? [""] : segments)
        }
        /// Appends several values with text between them, which is kept: `\(ids, separator: ",")` (RFC 6570 §3.2.1).
        ///
        /// Without values it is an empty value, which must not be a whole path segment.
        public mutating func appendInterpolation(
            _ values: [some LosslessStringConvertible], separator: String
        ) {
            if values.isEmpty { append("") }
            for (position, value) in values.enumerated() {
                if position > 0 { text += separator }
                append(value.description)
            }
        }
        /// Appends text as it is: its delimiters count, so it can change the endpoint and the host.
        public mutating func appendInterpolation(raw text: String) { self.text += text }

        // MARK: - Mistakes

        /// Not available: `nil` has no text.
        @available(
            *, unavailable,
            message:
                "A URL has no text for nil. Unwrap the value, or leave out its part of the URL."
        )
        public mutating func appendInterpolation<Value>(_ value: Value?) {}

        /// Not available: a date has several forms.
        @available(
            *, unavailable,
            message:
                "A date has many forms in a URL. Write the one of the service, such as \\(date.formatted(.iso8601))."
        )
        public mutating func appendInterpolation(_ value: Date) {}

        /// Not available: the type has no text of its own.
        @available(
            *, unavailable,
            message:
                "A URL takes text, numbers, Booleans, UUIDs and raw values. Convert other values to text; for a ready URL use \\(raw: url.absoluteString)."
        )
        public mutating func appendInterpolation<Value>(_ value: Value) {}
    }
}

// MARK: - Values

extension EndpointURL.StringInterpolation {
    private mutating func append(_ value: String) {
        beginValue()
        if !isPastHost, let start = startOfHost() { return append(value, toHostAt: start) }
        if value.utf8.count <= 2, value.utf8.allSatisfy({ $0 == UInt8(ascii: ".") }), isInPath {
            dotted.append(text.utf8.count)
        }
        text += PercentEncoding.encodedValue(value)
    }

    private mutating func append(segments: some Sequence<String>) {
        beginValue()
        // Segments are no host.
        if !isPastHost, startOfHost() != nil, fault == nil { fault = .host }
        var isFirst = true
        for segment in segments {
            if !isFirst { text += "/" }
            isFirst = false
            append(segment)
        }
    }

    private mutating func append(_ url: EndpointURL) {
        if fault == nil { fault = url.fault }
        guard url.hasValues else {
            text += url.text
            return
        }
        beginValue()
        if text.isEmpty {
            startsWithValue = url.startsWithValue
        } else if !isPastHost {
            // With a slash of the other URL, "https:/" has a host.
            if text.withUTF8(URLLayout.isHalfAuthority) { startsWithValue = true }
            // The values of the other URL were no part of a host where it was written.
            if startOfHost() != nil, fault == nil { fault = .host }
        }
        text += url.text
    }

    private mutating func beginValue() {
        if !hasValues {
            // Spaces around a URL are not part of it.
            if text.utf8.first == UInt8(ascii: " ") {
                text = String(Substring(text.utf8.drop { $0 == UInt8(ascii: " ") }))
            }
            hasValues = true
        }
        completeEscape()
    }

    /// Whether the text has neither a query nor a fragment.
    private var isInPath: Bool {
        mutating get {
            guard pathLength >= 0 else { return false }
            let searched = pathLength
            pathLength = text.withUTF8 { bytes in
                let hasOther = bytes[min(searched, bytes.count)...].contains {
                    $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#")
                }
                return hasOther ? -1 : bytes.count
            }
            return pathLength >= 0
        }
    }

    /// Encodes a `%` that the text ends with, alone or with one digit, so that it forms no escape with a value.
    private mutating func completeEscape() {
        let bytes = text.utf8
        guard let last = bytes.last else { return }
        if last == UInt8(ascii: "%") {
            text += "25"
        } else if ByteSet.hexDigits.contains(last),
            bytes.dropLast().last == UInt8(ascii: "%")
        {
            text.unicodeScalars.removeLast()
            text += "25"
            text.unicodeScalars.append(Unicode.Scalar(last))
        }
    }

    /// The offset of the host that the text ends in, if any; remembers in which other part it ends.
    private mutating func startOfHost() -> Int? {
        switch text.withUTF8(URLLayout.place(atEndOf:)) {
        case .host(let start): return start
        case .head: startsWithValue = true
        case .pastHost: isPastHost = true
        }
        return nil
    }

    private mutating func append(_ value: String, toHostAt start: Int) {
        let isAccepted = host.accept(value, after: text.utf8.dropFirst(start))
        host.start = start
        text += isAccepted ? value : PercentEncoding.encodedValue(value)
        host.noteEnd(text.utf8.count)
        if !isAccepted, fault == nil { fault = .host }
    }

    /// The URL of all literals and values.
    var url: EndpointURL {
        guard hasValues else { return EndpointURL(text: text, fault: fault) }
        var copy = self
        copy.completeEscape()
        while copy.text.utf8.last == UInt8(ascii: " ") { copy.text.unicodeScalars.removeLast() }
        return copy.checked
    }

    private var checked: EndpointURL {
        var text = text
        var fault = fault
        if fault == nil, startsWithValue || host.start >= 0 || !dotted.isEmpty {
            fault = text.withUTF8 { bytes -> EndpointURL.Fault? in
                if startsWithValue, URLLayout.looksAbsolute(bytes) { return .scheme }
                if host.start >= 0, !host.areAllowed(in: bytes) { return .host }
                for offset in dotted {
                    if let fault = URLLayout.fault(ofValueAt: offset, bytes) { return fault }
                }
                return nil
            }
        }
        return EndpointURL(
            text: text, fault: fault, hasValues: true, startsWithValue: startsWithValue)
    }
}

// MARK: - Hosts

extension EndpointURL.StringInterpolation {
    /// The values within the host of an absolute URL.
    private struct HostValues: Sendable {
        /// The offset of the authority that has values; -1 if there is none.
        var start = -1
        /// The offset behind the last value that did not begin the host and is no port; -1 if there is none.
        private var end = -1
        private var continues = false

        /// Whether the value may follow this part of an authority.
        mutating func accept(_ value: String, after authority: Substring.UTF8View) -> Bool {
            continues = false
            guard !authority.contains(UInt8(ascii: "@")), !authority.contains(UInt8(ascii: "["))
            else { return false }
            if authority.contains(UInt8(ascii: ":")) {
                return authority.last == UInt8(ascii: ":") && !value.isEmpty
                    && value.utf8.allSatisfy(ByteSet.digits.contains)
            }
            continues = !authority.isEmpty
            return Self.isPartOfHost(
                value, beginsLabel: authority.isEmpty || authority.last == UInt8(ascii: "."))
        }

        mutating func noteEnd(_ offset: Int) { if continues { end = offset } }

        private static func isPartOfHost(_ value: String, beginsLabel: Bool) -> Bool {
            let bytes = value.utf8
            var isASCII = true
            for byte in bytes
            where !ByteSet.alphanumeric.contains(byte) && byte != UInt8(ascii: "-") {
                guard beginsLabel, byte == UInt8(ascii: ".") || byte >= 0x80 else { return false }
                if byte >= 0x80 { isASCII = false }
            }
            // Beside text of the same label, an empty value changes nothing.
            if bytes.isEmpty { return !beginsLabel }
            guard bytes.last != UInt8(ascii: ".") else { return false }
            if isASCII { return !HostName.hasEmptyLabel(value) }
            // Some characters beyond ASCII are mapped to dots, or to nothing. With one more label, "1。" is no address.
            guard let name = try? HostName.canonical((value + ".a").utf8) else { return false }
            return !HostName.hasEmptyLabel(name)
        }

        /// Whether the authority has neither user nor brackets, and does not end with a value that did not begin it.
        func areAllowed(in bytes: UnsafeBufferPointer<UInt8>) -> Bool {
            let authority = bytes[start...].prefix { !URLLayout.endsAuthority($0) }
            guard !authority.contains(UInt8(ascii: "@")), !authority.contains(UInt8(ascii: "["))
            else { return false }
            guard end >= 0 else { return true }
            // The literal after the value has the labels that the value must not choose.
            let rest = authority[end...].prefix { $0 != UInt8(ascii: ":") }
            guard let dot = rest.firstIndex(of: UInt8(ascii: ".")) else { return false }
            return rest[dot...].contains { $0 != UInt8(ascii: ".") }
        }
    }
}

extension PercentEncoding {
    /// A value with each byte encoded that is not unreserved (RFC 3986 §2.3), the `%` of its escapes too.
    fileprivate static func encodedValue(_ value: String) -> String {
        var value = value
        return value.withUTF8 { bytes -> String? in
            let kept = ByteSet.unreserved
            var escaped = 0
            for byte in bytes where !kept.contains(byte) { escaped += 1 }
            guard escaped > 0 else { return nil }
            return String(unsafeUninitializedCapacity: bytes.count + 2 * escaped) { buffer in
                var count = 0
                for byte in bytes {
                    if kept.contains(byte) {
                        buffer[count] = byte
                        count += 1
                    } else {
                        buffer[count] = UInt8(ascii: "%")
                        buffer[count + 1] = hexDigit(byte >> 4)
                        buffer[count + 2] = hexDigit(byte & 15)
                        count += 3
                    }
                }
                return count
            }
        } ?? value
    }
}
