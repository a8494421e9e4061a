package import Foundation

/// A date in a header field (RFC 9110 §5.6.7), in any of its three forms.
package enum HTTPDate {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// The date, or `nil` for text that is none.
    ///
    /// - Parameter now: What a year of two digits is taken by: it is at most 50 years ahead.
    package static func parse(_ text: String, now: Date = Date()) -> Date? {
        let words = text.split(whereSeparator: { $0 == " " || $0 == "," || $0 == "-" }).map(
            String.init)
        // Sun, 06 Nov 1994 08:49:37 GMT | Sunday, 06-Nov-94 08:49:37 GMT | Sun Nov  6 08:49:37 1994
        if words.count == 6, words[5] == "GMT" {
            return date(
                day: words[1], month: words[2], year: words[3], time: words[4], now: now)
        }
        if words.count == 5 {
            return date(
                day: words[2], month: words[1], year: words[4], time: words[3], now: now)
        }
        return nil
    }

    private static func date(
        day: String, month: String, year: String, time: String, now: Date
    ) -> Date? {
        let clock = time.split(separator: ":", omittingEmptySubsequences: false).map { Int($0) }
        guard clock.count == 3, let hour = clock[0], let minute = clock[1], let second = clock[2],
            (0...23).contains(hour), (0...59).contains(minute), (0...60).contains(second),
            let day = Int(day), (1...31).contains(day), let month = months.firstIndex(of: month),
            var number = Int(year), (0...9999).contains(number)
        else { return nil }
        if year.utf8.count == 2 {
            let present = 1970 + Int(max(0, min(now.timeIntervalSince1970, 2.5e11)) / 31_556_952)
            number += present / 100 * 100
            if number > present + 50 { number -= 100 }
        }
        let days = daysSinceEpoch(year: number, month: month + 1, day: day)
        return Date(
            timeIntervalSince1970: Double(days * 86400 + hour * 3600 + minute * 60 + second))
    }

    /// Days from 1970-01-01 in the Gregorian calendar, counted in eras of 400 years that begin in March.
    private static func daysSinceEpoch(year: Int, month: Int, day: Int) -> Int {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }
}
