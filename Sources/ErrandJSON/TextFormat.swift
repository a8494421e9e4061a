/// The formats of text that a schema checks.
enum TextFormat: String, Sendable {
    case date
    case dateTime = "date-time"
    case time
    case uuid
    case ipv4
    case ipv6

    /// Whether text has the format.
    func accepts(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        switch self {
        case .date: return Self.isDate(bytes[...])
        case .time: return Self.isTime(bytes[...])
        case .dateTime:
            guard bytes.count > 11, "Tt ".utf8.contains(bytes[10]) else { return false }
            return Self.isDate(bytes[..<10]) && Self.isTime(bytes[11...])
        case .uuid:
            return bytes.count == 36
                && bytes.enumerated().allSatisfy { position, byte in
                    [8, 13, 18, 23].contains(position)
                        ? byte == UInt8(ascii: "-") : Self.hexDigit(byte) != nil
                }
        case .ipv4: return Self.isIPv4(bytes[...])
        case .ipv6: return Self.isIPv6(bytes[...])
        }
    }

    /// The number of two or more digits; `nil` for other bytes.
    private static func number(_ bytes: ArraySlice<UInt8>) -> Int? {
        guard bytes.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return Int(String(decoding: bytes, as: UTF8.self))
    }

    private static func hexDigit(_ byte: UInt8) -> Int? {
        Unicode.Scalar(byte).properties.isASCIIHexDigit ? Int(byte) : nil
    }

    /// RFC 3339 `full-date`.
    private static func isDate(_ bytes: ArraySlice<UInt8>) -> Bool {
        let parts = bytes.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard parts.map(\.count) == [4, 2, 2], let year = number(parts[0]),
            let month = number(parts[1]), let day = number(parts[2]), (1...12).contains(month)
        else { return false }
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        return (1...days[month - 1]).contains(day)
    }

    /// RFC 3339 `full-time`.
    private static func isTime(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard bytes.count >= 9 else { return false }
        let clock = bytes.prefix(8).split(
            separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard clock.map(\.count) == [2, 2, 2], let hour = number(clock[0]), hour < 24,
            let minute = number(clock[1]), minute < 60, let second = number(clock[2]), second <= 60
        else { return false }
        var rest = bytes.dropFirst(8)
        if rest.first == UInt8(ascii: ".") {
            let digits = rest.dropFirst().prefix { number([$0]) != nil }
            guard !digits.isEmpty else { return false }
            rest = rest.dropFirst(1 + digits.count)
        }
        if rest.count == 1, let zone = rest.first { return "Zz".utf8.contains(zone) }
        guard rest.count == 6, let sign = rest.first, "+-".utf8.contains(sign) else { return false }
        let offset = rest.dropFirst().split(
            separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        return offset.map(\.count) == [2, 2] && number(offset[0]).map { $0 < 24 } ?? false
            && number(offset[1]).map { $0 < 60 } ?? false
    }

    private static func isIPv4(_ bytes: ArraySlice<UInt8>) -> Bool {
        let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return parts.count == 4
            && parts.allSatisfy { part in
                guard (1...3).contains(part.count), let first = part.first,
                    part.count == 1 || first != UInt8(ascii: "0")
                else { return false }
                return number(part).map { $0 < 256 } ?? false
            }
    }

    /// RFC 4291 §2.2.
    private static func isIPv6(_ bytes: ArraySlice<UInt8>) -> Bool {
        let colon = UInt8(ascii: ":")
        var count = 0
        var gaps = 0
        var rest = bytes
        // A gap of two colons stands at the start, at the end, or between groups.
        if rest.starts(with: [colon, colon]) {
            gaps += 1
            rest = rest.dropFirst(2)
        }
        while !rest.isEmpty {
            let group = rest.prefix { $0 != colon }
            rest = rest.dropFirst(group.count)
            if rest.isEmpty, group.contains(UInt8(ascii: ".")) {
                guard isIPv4(group) else { return false }
                count += 2
                break
            }
            guard (1...4).contains(group.count), group.allSatisfy({ hexDigit($0) != nil }) else {
                return false
            }
            count += 1
            if rest.starts(with: [colon, colon]) {
                gaps += 1
                rest = rest.dropFirst(2)
            } else if !rest.isEmpty {
                rest = rest.dropFirst()
                guard !rest.isEmpty else { return false }
            }
        }
        return gaps == 0 ? count == 8 : gaps == 1 && count < 8
    }
}
