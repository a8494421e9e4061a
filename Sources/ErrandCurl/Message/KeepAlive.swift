import HTTPTypes

/// Reads the `Keep-Alive` field of a response, in which many servers state how long they keep an
/// idle connection (RFC 2068 §19.7.1.1).
enum KeepAlive {
    private static let name = HTTPField.Name("Keep-Alive")

    /// The time for which an idle connection may be used, in nanoseconds; `nil` if the field names
    /// none.
    ///
    /// It is one second less than the server's, so that no request is on its way when the server
    /// closes the connection, and at least 0.
    static func idleNanoseconds(of fields: HTTPFields) -> UInt64? {
        guard let name, let value = fields[name], let seconds = timeout(in: value) else {
            return nil
        }
        let (nanoseconds, isTooLong) = (max(seconds, 1) - 1)
            .multipliedReportingOverflow(by: 1_000_000_000)
        return isTooLong ? nil : nanoseconds
    }

    /// The seconds of the parameter `timeout`, the lowest of several; `nil` if there is none.
    ///
    /// Other parameters and malformed values are ignored.
    static func timeout(in value: String) -> UInt64? {
        var rest = value.utf8[...]
        var lowest: UInt64?
        while !rest.isEmpty {
            guard let seconds = timeout(of: takeParameter(from: &rest)) else { continue }
            lowest = min(seconds, lowest ?? seconds)
        }
        return lowest
    }

    /// Removes and returns the bytes up to the next comma that is not quoted.
    private static func takeParameter(from rest: inout Substring.UTF8View) -> Substring.UTF8View {
        var isQuoted = false
        let comma = rest.firstIndex { byte in
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            return byte == UInt8(ascii: ",") && !isQuoted
        }
        let parameter = rest[..<(comma ?? rest.endIndex)]
        rest = rest[parameter.endIndex...].dropFirst()
        return parameter
    }

    private static func timeout(of parameter: Substring.UTF8View) -> UInt64? {
        guard let equals = parameter.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        let name = trimmed(parameter[..<equals])
        // All bytes of the name are letters, which differ from upper case in one bit.
        guard name.elementsEqual("timeout".utf8, by: { $0 | 0x20 == $1 }) else { return nil }
        var digits = trimmed(parameter[equals...].dropFirst())
        if digits.count > 2, digits.first == UInt8(ascii: "\""), digits.last == digits.first {
            digits = digits.dropFirst().dropLast()
        }
        // `UInt64` accepts a sign, too.
        guard digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return UInt64(Substring(digits))
    }

    /// The bytes without the white space around them.
    private static func trimmed(_ bytes: Substring.UTF8View) -> Substring.UTF8View {
        var bytes = bytes.drop { $0 == 0x20 || $0 == 0x09 }
        while let last = bytes.last, last == 0x20 || last == 0x09 { bytes.removeLast() }
        return bytes
    }
}
