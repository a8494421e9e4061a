package import ErrandSystem

/// Parses and formats dates in header fields, in the three formats of RFC 9110 §5.6.7.
package enum HTTPDate {
    static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    static let weekdays = [
        "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday",
    ]

    /// The date; `nil` if the text is not a date.
    ///
    /// Accepts a day with one digit and a wrong weekday, because the date is still unambiguous.
    ///
    /// - Parameters:
    ///   - now: The current date; a year with two digits is at most 50 years after it.
    ///   - ignoresCase: Whether the case of letters is ignored, as caches require (RFC 9111 §4.2).
    package static func parse(
        _ text: String, now: Date = Date(), ignoresCase: Bool = false
    ) -> Date? {
        if let date = preferredFormat(text) { return date }
        let text = ignoresCase ? inCanonicalCase(text) : text
        let words = text.utf8.split(whereSeparator: ByteSet(" ,-").contains).map {
            String(Substring($0))
        }
        guard let first = words.first,
            weekdays.contains(where: { $0 == first || $0.prefix(3) == first })
        else { return nil }
        // Sun, 06 Nov 1994 08:49:37 GMT | Sunday, 06-Nov-94 08:49:37 GMT | Sun Nov  6 08:49:37 1994
        if words.count == 6, words[5] == "GMT" {
            return date(
                day: words[1], month: words[2], year: words[3], time: words[4], now: now)
        }
        if words.count == 5, words[4].utf8.count == 4 {
            return date(
                day: words[2], month: words[1], year: words[4], time: words[3], now: now)
        }
        return nil
    }

    /// The date of a text in the preferred format, `Sun, 06 Nov 1994 08:49:37 GMT`, in the usual case; `nil` for other
    /// texts, which may be dates, too.
    private static func preferredFormat(_ text: String) -> Date? {
        var text = text
        return text.withUTF8 { bytes -> Date? in
            guard bytes.count == 29 else { return nil }
            func word(at offset: Int) -> UInt32 {
                UInt32(bytes[offset]) << 16 | UInt32(bytes[offset + 1]) << 8
                    | UInt32(bytes[offset + 2])
            }
            func number(_ offset: Int, _ digits: Int) -> Int? {
                var number = 0
                for byte in bytes[offset..<offset + digits] {
                    guard (0x30...0x39).contains(byte) else { return nil }
                    number = number * 10 + Int(byte - 0x30)
                }
                return number
            }
            guard bytes[3] == UInt8(ascii: ","), bytes[4] == 0x20, bytes[7] == 0x20,
                bytes[11] == 0x20, bytes[16] == 0x20, bytes[25] == 0x20,
                bytes[19] == UInt8(ascii: ":"), bytes[22] == UInt8(ascii: ":"),
                word(at: 26) == 0x47_4D54, weekdayWords.contains(word(at: 0)),
                let month = monthWords.firstIndex(of: word(at: 8)),
                let day = number(5, 2), let year = number(12, 4), let hour = number(17, 2),
                let minute = number(20, 2), let second = number(23, 2),
                hour <= 23, minute <= 59, second <= 60, day >= 1,
                day <= daysIn(month: month + 1, of: year)
            else { return nil }
            let days = daysSinceEpoch(year: year, month: month + 1, day: day)
            return Date(
                timeIntervalSince1970: Double(days * 86400 + hour * 3600 + minute * 60 + second))
        }
    }

    /// The first three letters of each name, as one number.
    private static let weekdayWords = weekdays.map { word($0) }
    private static let monthWords = months.map { word($0) }

    private static func word(_ name: String) -> UInt32 {
        name.utf8.prefix(3).reduce(0) { $0 << 8 | UInt32($1) }
    }

    private static func date(
        day: String, month: String, year: String, time: String, now: Date
    ) -> Date? {
        let clock = time.pieces(at: ":", keepingEmpty: true)
            .map { number(String($0), digits: 2...2) }
        guard clock.count == 3, let hour = clock[0], let minute = clock[1], let second = clock[2],
            hour <= 23, minute <= 59, second <= 60,
            let day = number(day, digits: 1...2), let month = months.firstIndex(of: month)
        else { return nil }
        func date(in year: Int) -> Date? {
            guard day >= 1, day <= daysIn(month: month + 1, of: year) else { return nil }
            let days = daysSinceEpoch(year: year, month: month + 1, day: day)
            return Date(
                timeIntervalSince1970: Double(days * 86400 + hour * 3600 + minute * 60 + second))
        }
        if let year = number(year, digits: 4...4) { return date(in: year) }
        guard let digits = number(year, digits: 2...2) else { return nil }
        // The latest year with these two digits that is at most 50 years in the future.
        let present = 1970 + Int(max(0, min(now.timeIntervalSince1970, 2.5e11)) / 31_556_952)
        let farthest = now.addingTimeInterval(50 * 31_556_952)
        let century = present / 100 * 100
        let years = [century + 100, century, century - 100].map { $0 + digits }
        return years.lazy.compactMap(date(in:)).first { $0 <= farthest }
    }

    /// A number without a sign and with this many digits.
    private static func number(_ text: String, digits: ClosedRange<Int>) -> Int? {
        guard digits.contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        return Int(text)
    }

    private static func daysIn(month: Int, of year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Days from 1970-01-01 in the Gregorian calendar, computed in eras of 400 years that start in March.
    private static func daysSinceEpoch(year: Int, month: Int, day: Int) -> Int {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }
}
