import ErrandCore
import ErrandHTTP
import Foundation
import Testing

/// Values of downloads: header fields, journals and file names.
@Suite struct DownloadValueTests {
    @Test(arguments: [
        ("bytes 0-0/1", ContentRange(bytes: 0...0, total: 1)),
        ("Bytes  5-9/*", ContentRange(bytes: 5...9, total: nil)),
        ("bytes */10", ContentRange(bytes: nil, total: 10)),
        (
            "bytes 0-9223372036854775806/9223372036854775807",
            ContentRange(bytes: 0...(.max - 1), total: .max)
        ),
    ])
    func validContentRanges(text: String, expected: ContentRange) {
        #expect(ContentRange(text) == expected)
    }

    @Test(arguments: [
        "", "bytes", "bytes ", "bytes 5-4/10", "bytes 5-10/10", "bytes -5/10", "bytes 5-/10",
        "bytes 1-2", "bytes 1-2/", "bytes 1-2/3/4", "bytes +1-2/3", "bytes 1-2/-3", "bytes */*",
        "items 1-2/3", "bytes 1-99999999999999999999/*", "bytes 0-9223372036854775807/1",
        "bytes 1 -2/3", "bytes ١-2/3",
    ])
    func invalidContentRanges(text: String) { #expect(ContentRange(text) == nil) }

    private static let date = "Sun, 06 Nov 1994 08:49:37 GMT"

    private static let validators: [(HTTPFields, String?)] = [
        ([.eTag: "\"a\""], "\"a\""), ([.eTag: "\"\""], "\"\""), ([.eTag: "W/\"a\""], nil),
        ([.eTag: "a"], nil), ([.eTag: "\""], nil), ([:], nil),
        ([.lastModified: date], nil),
        ([.lastModified: date, .date: "Sun, 06 Nov 1994 08:50:37 GMT"], date),
        ([.lastModified: date, .date: "Sun, 06 Nov 1994 08:50:36 GMT"], nil),
        ([.lastModified: date, .date: "Sun, 06 Nov 1994 08:49:37 GMT"], nil),
        ([.lastModified: "yesterday", .date: date], nil),
        ([.eTag: "W/\"a\"", .lastModified: date, .date: "Mon, 07 Nov 1994 08:49:37 GMT"], nil),
        ([.eTag: "\"a\"", .contentEncoding: "gzip"], nil),
        ([.eTag: "\"a\"", .contentEncoding: "identity"], "\"a\""),
    ]

    @Test(arguments: validators)
    func strongValidators(headers: HTTPFields, expected: String?) {
        #expect(ResumeValidator.strong(in: headers) == expected)
    }

    /// A journal stores text, so a tag that is none cannot prove that the file is the same.
    @Test func tagThatIsNotTextIsNoValidator() {
        let headers = HTTPFields([HTTPField(name: .eTag, value: [0x22, 0xE9, 0x22])])
        let replaced = "\"\u{FFFD}\""
        #expect(
            ResumeValidator.strong(in: headers) == nil && ResumeValidator.weak(in: headers) == nil)
        #expect(!ResumeValidator.confirms(headers, validator: replaced))
        #expect(ResumeValidator.contradicts(headers, validator: replaced))
        #expect(!ResumeValidator.isMissing(in: headers))
    }

    @Test func journalsRoundTrip() {
        let journal = DownloadJournal(
            url: "http://a/ü?\"x\"", validator: "\"v\"", total: nil, offset: .max, session: nil,
            serverDigests: [.sha256(String(repeating: "0a", count: 32))])
        #expect(DownloadJournal(decoding: journal.encoded()) == journal)
    }

    @Test func malformedDigestsOfAJournalAreIgnored() throws {
        let text =
            #"{"format":1,"url":"u","validator":"\"v\"","offset":0,"#
            + #""digests":{"SHA-256":"0a","CRC":"00","MD5":"d41d8cd98f00b204e9800998ecf8427e"}}"#
        let journal = try #require(DownloadJournal(decoding: Data(text.utf8)))
        #expect(journal.serverDigests == [.md5("d41d8cd98f00b204e9800998ecf8427e")])
    }

    @Test(arguments: [
        "", "{", "[]", "null", "garbage\u{0}",
        #"{"format":3,"url":"u","validator":"\"v\"","offset":0}"#,
        #"{"format":2,"url":"u","validator":"\"v\"","offset":2,"total":9,"extents":[0,2,1,3]}"#,
        #"{"format":2,"url":"u","validator":"\"v\"","offset":2,"total":9,"extents":[0,2,3]}"#,
        #"{"format":2,"url":"u","validator":"\"v\"","offset":2,"total":9,"extents":[2,0]}"#,
        #"{"format":2,"url":"u","validator":"\"v\"","offset":2,"total":9,"extents":[-2,1]}"#,
        #"{"format":2,"url":"u","validator":"\"v\"","offset":2,"total":9,"extents":[0,10]}"#,
        #"{"format":2,"url":"u","validator":"\"v\"","offset":2,"extents":[0,2]}"#,
        #"{"format":2,"url":"u","validator":"\"v\"","offset":2,"total":9,"table":"x"}"#,
        #"{"format":1,"url":"u","validator":"\"v\"","offset":-1}"#,
        #"{"format":1,"url":"u","validator":"\"v\"","offset":5,"total":4}"#,
        #"{"format":1,"url":"u","validator":"","offset":5}"#,
        #"{"format":1,"url":"u","validator":"a\r\nEvil: x","offset":5}"#,
        #"{"format":1,"url":"u","validator":"\"v\"","offset":1e30}"#,
        #"{"format":1,"url":"u","offset":5}"#,
    ])
    func invalidJournalsAreRejected(text: String) {
        #expect(DownloadJournal(decoding: Data(text.utf8)) == nil)
    }

    @Test(arguments: [
        ("/a/b.txt", "b.txt"), ("/a/", "download"), ("", "download"), ("/", "download"),
        ("/a/%2e%2e", "download"), ("/a/..%2Fetc%2Fpasswd", "_etc_passwd"),
        ("/a/b%20c.png", "b c.png"), ("/a/%00%0a", "__"), ("/a/x%zz", "x%zz"),
        ("/" + String(repeating: "n", count: 300), String(repeating: "n", count: 240)),
    ])
    func fileNamesFromURLs(path: String, expected: String) {
        #expect(FileName.last(of: HTTPURL(path: path)) == expected)
    }

    @Test func alternativeNamesKeepTheExtension() throws {
        func second(_ name: String) throws -> String {
            let plan = DownloadPlan(to: URL(fileURLWithPath: "/nowhere/" + name))
            return try DownloadDestination(plan, url: HTTPURL()).candidate(2).lastPathComponent
        }
        #expect(try second("a.txt") == "a 2.txt")
        #expect(try second("a") == "a 2")
        #expect(try second(".profile") == ".profile 2")
        #expect(try second("a.tar.gz") == "a.tar 2.gz")
    }

    @Test func longNamesGetAShorterPartName() throws {
        let name = String(repeating: "é", count: 120)
        let plan = DownloadPlan(to: URL(fileURLWithPath: "/nowhere/" + name))
        let destination = try DownloadDestination(plan, url: HTTPURL())
        #expect(destination.part.lastPathComponent.utf8.count < 240)
        #expect(destination.part.lastPathComponent.hasSuffix(".errand-part"))
    }
}
