import Foundation
import Testing

@testable import ErrandHTTP

@Suite struct HTTPDateTests {
    @Test(arguments: [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994",
    ])
    func allThreeFormats(text: String) {
        #expect(HTTPDate.parse(text)?.timeIntervalSince1970 == 784_111_777)
    }

    /// The preferred format is parsed like the others, also with a wrong digit, letter or separator.
    @Test func preferredFormatIsParsedLikeTheOthers() {
        let dates = ["Sun, 06 Nov 1994 08:49:37 GMT", "Thu, 29 Feb 2024 23:59:60 GMT"]
        for date in dates {
            for offset in 0..<29 {
                for byte in "0369-: ,aGS".utf8 {
                    var bytes = Array(date.utf8)
                    bytes[offset] = byte
                    let text = String(decoding: bytes, as: UTF8.self)
                    // A trailing blank leaves the preferred format, and means nothing.
                    #expect(HTTPDate.parse(text) == HTTPDate.parse(text + " "), "\(text)")
                }
            }
        }
    }

    @Test func leapDaysAndLimits() {
        #expect(
            HTTPDate.parse("Thu, 29 Feb 2024 00:00:00 GMT")?.timeIntervalSince1970 == 1_709_164_800)
        #expect(HTTPDate.parse("Thu, 01 Jan 1970 00:00:00 GMT")?.timeIntervalSince1970 == 0)
        #expect(
            HTTPDate.parse("Fri, 31 Dec 9999 23:59:59 GMT")?.timeIntervalSince1970
                == 253_402_300_799)
    }

    @Test(arguments: [
        "", "0", "-1", "now", "Sun, 06 Nov 1994 25:49:37 GMT", "Sun, 32 Nov 1994 08:49:37 GMT",
        "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49 GMT",
        "Sun, 06 Nov 1994 08:49:37 CET",
        "Sun, 06 Nov 99999999999999999999 08:49:37 GMT",
    ])
    func invalidDates(text: String) {
        #expect(HTTPDate.parse(text) == nil)
    }

    /// RFC 9110 §5.6.7: a two-digit year more than 50 years in the future is a past year.
    @Test(arguments: [("76", 2076), ("77", 1977), ("26", 2026), ("00", 2000)])
    func twoDigitYearsAreAtMostFiftyYearsAhead(digits: String, year: Int) throws {
        let now = try #require(HTTPDate.parse("Sat, 21 Nov 2026 00:00:00 GMT"))
        let short = HTTPDate.parse("Sunday, 06-Nov-\(digits) 08:49:37 GMT", now: now)
        #expect(short == HTTPDate.parse("Sun, 06 Nov \(year) 08:49:37 GMT"))
    }

    @Test(arguments: [
        "Sun, 06 Nov 1994 08:49:37 GMT", "SUN, 06 nov 1994 08:49:37 gmt",
        "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Sun Nov 16 08:49:37 1994",
    ])
    func wellFormedDatesIgnoreCase(text: String) {
        #expect(HTTPDate.isWellFormed(text))
        #expect(HTTPDate.parse(text, ignoresCase: true) != nil)
    }

    @Test(arguments: [
        "", "0", "Sun, 06 Nov 94 08:49:37 GMT", "Sun 06 Nov 1994 08:49:37 GMT",
        "Sun, 06  Nov 1994 08:49:37 GMT", "Sun, 06-Nov-1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08.49.37 GMT", "Sun, 06 Nov 1994 8:49:37 GMT",
        "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 UTC",
        "Sun, 06 Nov 1994 08:49:37 GMT ", "Sun Nov 6 08:49:37 1994", ", 06 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37 GMTs", "Sun, \u{0660}6 Nov 1994 08:49:37 GMT",
    ])
    func malformedDatesAreNotWellFormed(text: String) {
        #expect(!HTTPDate.isWellFormed(text))
    }

    @Test(arguments: [
        (784_111_777.9, "Sun, 06 Nov 1994 08:49:37 GMT"), (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
        (1_709_164_800, "Thu, 29 Feb 2024 00:00:00 GMT"), (-1, "Wed, 31 Dec 1969 23:59:59 GMT"),
        (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"),
        (.infinity, "Fri, 31 Dec 9999 23:59:59 GMT"), (-.infinity, "Thu, 01 Jan 1970 00:00:00 GMT"),
        (.nan, "Thu, 01 Jan 1970 00:00:00 GMT"),
    ])
    func formattedDates(seconds: Double, expected: String) {
        #expect(HTTPDate.string(from: Date(timeIntervalSince1970: seconds)) == expected)
    }

    @Test func formattedDatesAreParsedBack() {
        for day in stride(from: -700_000, through: 2_900_000, by: 997) {
            let date = Date(timeIntervalSince1970: Double(day * 86400 + 3723))
            let text = HTTPDate.string(from: date)
            #expect(HTTPDate.isWellFormed(text) && HTTPDate.parse(text) == date)
        }
    }
}
