import Foundation
import Testing

@testable import ErrandCore

@Suite struct HTTPDateTests {
    @Test(arguments: [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994",
    ])
    func allThreeForms(text: String) {
        #expect(HTTPDate.parse(text)?.timeIntervalSince1970 == 784_111_777)
    }

    @Test func leapDaysAndTheEndsOfTime() {
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
    func whatIsNoDate(text: String) {
        #expect(HTTPDate.parse(text) == nil)
    }

    /// RFC 9110 §5.6.7: what seems more than 50 years ahead is the past.
    @Test(arguments: [("76", 2076), ("77", 1977), ("26", 2026), ("00", 2000)])
    func aYearOfTwoDigitsIsAtMostFiftyYearsAhead(digits: String, year: Int) throws {
        let now = try #require(HTTPDate.parse("Sat, 21 Nov 2026 00:00:00 GMT"))
        let short = HTTPDate.parse("Sunday, 06-Nov-\(digits) 08:49:37 GMT", now: now)
        #expect(short == HTTPDate.parse("Sun, 06 Nov \(year) 08:49:37 GMT"))
    }
}
