import Foundation
import Testing

@testable import ErrandCore

/// Journals with numbers that no journal contains.
@Suite(.timeLimit(.minutes(1))) struct JournalNumberTests {
    @Test(arguments: [
        "1e19", "1E400", "-1", "-9223372036854775809", "9223372036854775808", "9.3e18", "1.5",
        "1e-400",
        "1e9999999999999999999", "-1e9999999999999999999", "1e-9999999999999999999", "1e2147483648",
        "340282366920938463463374607431768211456", "123456789012345678901234567890e-20",
    ])
    func numberThatIsNoOffsetIsInvalid(number: String) {
        let text = #"{"format":1,"url":"http://test/","validator":"\"1\"","offset":\#(number)}"#
        #expect(DownloadJournal(decoding: Data(text.utf8)) == nil)
        let total =
            #"{"format":1,"url":"http://test/","validator":"\"1\"","offset":9,"total":\#(number)}"#
        #expect(DownloadJournal(decoding: Data(total.utf8)) == nil)
        let extents =
            #"{"format":2,"url":"http://test/","validator":"\"1\"","offset":0,"total":10,"extents":[0,\#(number)]}"#
        #expect(DownloadJournal(decoding: Data(extents.utf8)) == nil)
    }

    @Test func validJournalIsDecoded() throws {
        let text =
            #"{"format":1,"url":"http://test/","validator":"\"1\"","offset":5e0,"total":10.0}"#
        let journal = try #require(DownloadJournal(decoding: Data(text.utf8)))
        #expect(journal.offset == 5 && journal.total == 10)
    }
}
