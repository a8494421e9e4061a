package import ErrandSystem

// The exact formats of RFC 9110 §5.6.7, for validation and output.

extension HTTPDate {
    /// Whether the text has exactly one of the three date formats, in upper or lower case (RFC 9111 §4.2).
    ///
    /// ``parse(_:now:)`` is more lenient, as recipients should be. It is too lenient for a field such as
    /// `Expires`, where an invalid date has a meaning of its own.
    package static func isWellFormed(_ text: String) -> Bool {
        let afterWeekday = text.utf8.drop { isLetter($0) }
        guard text.utf8.count - afterWeekday.count >= 3 else { return false }
        let forms = [
            ", 00 aaa 0000 00:00:00 GMT", ", 00-aaa-00 00:00:00 GMT", " aaa _0 00:00:00 0000",
        ]
        return forms.contains { form in
            form.utf8.elementsEqual(afterWeekday) { sample, byte in
                switch sample {
                case UInt8(ascii: "0"): isDigit(byte)
                case UInt8(ascii: "_"): isDigit(byte) || byte == UInt8(ascii: " ")
                case UInt8(ascii: "a"): isLetter(byte)
                case let letter where isLetter(letter): byte & 0xDF == letter
                default: sample == byte
                }
            }
        }
    }

    /// The date in the preferred format, such as `Sun, 06 Nov 1994 08:49:37 GMT`.
    package static func string(from date: Date) -> String {
        let seconds = date.timeIntervalSince1970
        // The format has room for the years 0 to 9999.
        guard seconds > -62_167_219_200, seconds < 253_402_300_800 else {
            return string(from: Date(timeIntervalSince1970: seconds > 0 ? 253_402_300_799 : 0))
        }
        let whole = Int(seconds.rounded(.down))
        let days = whole >= 0 ? whole / 86400 : (whole + 1) / 86400 - 1
        let (year, month, day) = civil(daysSinceEpoch: days)
        let rest = whole - days * 86400
        let clock = [rest / 3600, rest / 60 % 60, rest % 60].map { padded($0, 2) }
        return
            "\(weekdays[((days + 4) % 7 + 7) % 7].prefix(3)), \(padded(day, 2)) \(months[month - 1]) "
            + "\(padded(year, 4)) \(clock.joined(separator: ":")) GMT"
    }

    /// The text with the usual capitalization: `SUN, 06 nov 1994 08:49:37 gmt` as `Sun, 06 Nov … GMT`.
    static func inCanonicalCase(_ text: String) -> String {
        var isInside = false
        let bytes = text.utf8.map { byte in
            defer { isInside = isLetter(byte) }
            guard isLetter(byte) else { return byte }
            return isInside ? byte | 0x20 : byte & 0xDF
        }
        let usual = String(decoding: bytes, as: UTF8.self)
        return usual.dropping(suffix: " Gmt").map { $0 + " GMT" } ?? usual
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte & 0xDF)
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    /// The calendar date of a number of days since 1970-01-01, in the Gregorian calendar.
    private static func civil(daysSinceEpoch days: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let fromMarch = (5 * dayOfYear + 2) / 153
        let month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * fromMarch + 2) / 5 + 1)
    }
}
