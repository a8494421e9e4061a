import Foundation
import Testing

@testable import ErrandHTTP

@Suite struct CookieDateTests {
    private static let date = Date(timeIntervalSince1970: 1_623_233_894)  // 2021-06-09 10:18:14

    @Test(arguments: [
        "Wed, 09 Jun 2021 10:18:14 GMT", "Wednesday, 09-Jun-21 10:18:14 GMT",
        "Wed Jun  9 10:18:14 2021", "9 june 2021 10:18:14", "10:18:14 2021 JUN 9",
        "Wed, 09 Jun 2021 10:18:14 +0200", "x,09x;Junio,2021y/10:18:14z", "9 Jun 21 10:18:14",
    ])
    func supportedFormats(_ text: String) {
        #expect(CookieDate.parse(text) == Self.date)
    }

    @Test(arguments: [
        "", "Wed", "09 Jun 2021", "Wed, 09 Jun 2021 24:00:00 GMT", "Wed, 09 Jun 2021 10:60:14",
        "Wed, 09 Jun 2021 10:18:60", "Wed, 32 Jun 2021 10:18:14", "Wed, 0 Jun 2021 10:18:14",
        "Wed, 09 Jun 1600 10:18:14", "Wed, 31 Jun 2021 10:18:14", "29 Feb 2100 10:18:14",
        "Wed, 09 Foo 2021 10:18:14", "Wed, 09 Jun 20211 10:18:14", "10:18 09 Jun 2021",
        "010:18:14 09 Jun 2021", "9 Jun 2021 10:18:014",
    ])
    func invalidDates(_ text: String) {
        #expect(CookieDate.parse(text) == nil)
    }

    @Test func twoDigitYears() {
        #expect(CookieDate.parse("1 Jan 70 00:00:00") == Date(timeIntervalSince1970: 0))
        #expect(CookieDate.parse("1 Jan 00 00:00:00") == Date(timeIntervalSince1970: 946_684_800))
        #expect(
            CookieDate.parse("29 Feb 2000 00:00:00") == Date(timeIntervalSince1970: 951_782_400))
    }
}
