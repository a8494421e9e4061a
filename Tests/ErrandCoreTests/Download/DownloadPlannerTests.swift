import ErrandCore
import Foundation
import Testing

/// The decisions of a download as tables (row DL-7).
@Suite struct DownloadPlannerTests {
    private static let tag = "\"v1\""

    private static func resume(_ offset: Int64, total: Int64? = 100) -> DownloadStart {
        .resume(offset: offset, validator: tag, total: total)
    }

    struct AnswerRow: Sendable, CustomTestStringConvertible {
        var name: String
        var status: Int
        var headers: HTTPFields
        var length: Int64?
        var start: DownloadStart
        var expected: DownloadAnswer
        var testDescription: String { name }

        init(
            _ name: String, _ status: Int, _ headers: HTTPFields, length: Int64? = nil,
            _ start: DownloadStart, _ expected: DownloadAnswer
        ) {
            (self.name, self.status, self.headers) = (name, status, headers)
            (self.length, self.start, self.expected) = (length, start, expected)
        }
    }

    static let whole: [AnswerRow] = [
        AnswerRow("200", 200, [:], length: 5, .fresh, .write(total: 5, validator: nil)),
        AnswerRow("200 without length", 200, [:], .fresh, .write(total: nil, validator: nil)),
        AnswerRow(
            "200 with a strong tag", 200, [.eTag: tag], length: 5, .fresh,
            .write(total: 5, validator: tag)),
        AnswerRow(
            "200 instead of a part", 200, [.eTag: "\"v2\""], length: 9, resume(40),
            .write(total: 9, validator: "\"v2\"")),
        AnswerRow("404", 404, [:], .fresh, .reject),
        AnswerRow("404 while resuming", 404, [.eTag: tag], resume(40), .reject),
        AnswerRow("302", 302, [:], resume(40), .reject),
        AnswerRow("416 unasked", 416, [.contentRange: "bytes */0"], .fresh, .reject),
    ]

    static let parts: [AnswerRow] = [
        AnswerRow(
            "the rest", 206, [.contentRange: "bytes 40-99/100", .eTag: tag], length: 60, resume(40),
            .append(at: 40, total: 100)),
        AnswerRow(
            "a part of the rest", 206, [.contentRange: "bytes 40-49/100"], length: 10, resume(40),
            .append(at: 40, total: 100)),
        AnswerRow(
            "total learned", 206, [.contentRange: "bytes 40-99/100"], resume(40, total: nil),
            .append(at: 40, total: 100)),
        AnswerRow(
            "total withheld", 206, [.contentRange: "bytes 40-99/*"], resume(40),
            .append(at: 40, total: 100)),
        AnswerRow(
            "wrong start", 206, [.contentRange: "bytes 39-99/100"], resume(40), .restart),
        AnswerRow(
            "from the first byte", 206, [.contentRange: "bytes 0-99/100"], resume(40), .restart),
        AnswerRow(
            "another total", 206, [.contentRange: "bytes 40-100/101"], resume(40), .restart),
        AnswerRow(
            "beyond the known total", 206, [.contentRange: "bytes 40-120/*"], resume(40), .restart),
        AnswerRow(
            "another unit", 206, [.contentRange: "items 40-99/100"], resume(40), .restart),
        AnswerRow("no range at all", 206, [:], resume(40), .restart),
        AnswerRow("unsatisfied", 206, [.contentRange: "bytes */100"], resume(40), .restart),
        AnswerRow(
            "another version", 206, [.contentRange: "bytes 40-99/100", .eTag: "\"v2\""], resume(40),
            .restart),
        AnswerRow(
            "a tag gone weak", 206, [.contentRange: "bytes 40-99/100", .eTag: "W/\"v1\""],
            resume(40), .restart),
        AnswerRow(
            "encoded", 206, [.contentRange: "bytes 40-99/100", .contentEncoding: "gzip"],
            resume(40),
            .restart),
        AnswerRow(
            "several parts", 206,
            [.contentRange: "bytes 40-99/100", .contentType: "Multipart/ByteRanges; boundary=x"],
            resume(40), .restart),
        AnswerRow(
            "length against range", 206, [.contentRange: "bytes 40-99/100"], length: 61, resume(40),
            .restart),
    ]

    static let unsatisfied: [AnswerRow] = [
        AnswerRow(
            "all there", 416, [.contentRange: "bytes */100"], resume(100), .settle(total: 100)),
        AnswerRow(
            "all there, total unknown", 416, [.contentRange: "bytes */100"],
            resume(100, total: nil), .settle(total: 100)),
        AnswerRow("shorter than ours", 416, [.contentRange: "bytes */90"], resume(100), .restart),
        AnswerRow("longer than ours", 416, [.contentRange: "bytes */120"], resume(100), .restart),
        AnswerRow("without size", 416, [:], resume(100), .restart),
        AnswerRow(
            "another version", 416, [.contentRange: "bytes */100", .eTag: "\"v2\""], resume(100),
            .restart),
    ]

    @Test(arguments: whole + parts + unsatisfied)
    func judges(row: AnswerRow) {
        let answer = DownloadPlanner.judge(
            row.status, row.headers, contentLength: row.length, after: row.start)
        #expect(answer == row.expected)
    }

    @Test(arguments: [201, 202, 204, 205, 206, 226])
    func refusesWhatBringsNoWholeFile(status: Int) {
        let answer = DownloadPlanner.judge(status, [:], contentLength: nil, after: .fresh)
        guard case .refuse = answer else {
            Issue.record("\(answer)")
            return
        }
    }

    struct StartRow: Sendable, CustomTestStringConvertible {
        var name: String
        var journal: DownloadJournal?
        var size: Int64?
        var allows: Bool
        var expected: DownloadStart
        var testDescription: String { name }

        init(
            _ name: String, _ journal: DownloadJournal?, size: Int64?, allows: Bool = true,
            _ expected: DownloadStart
        ) {
            (self.name, self.journal, self.size) = (name, journal, size)
            (self.allows, self.expected) = (allows, expected)
        }
    }

    private static func journal(
        _ offset: Int64, url: String = "http://a/f", total: Int64? = 100, session: String? = "now"
    ) -> DownloadJournal {
        DownloadJournal(
            url: url, validator: tag, total: total, offset: offset, session: session)
    }

    static let starts: [StartRow] = [
        StartRow("nothing there", nil, size: nil, .fresh),
        StartRow("part without journal", nil, size: 40, .fresh),
        StartRow("journal without part", journal(0), size: nil, .fresh),
        StartRow("empty part", journal(0), size: 0, .fresh),
        StartRow("killed a moment ago", journal(16), size: 40, resume(40)),
        StartRow("the machine crashed", journal(16, session: "then"), size: 40, resume(16)),
        StartRow("session unknown", journal(16, session: nil), size: 40, resume(16)),
        StartRow("crashed before a sync", journal(0, session: "then"), size: 40, .fresh),
        StartRow("cut short by somebody", journal(40), size: 39, .fresh),
        StartRow("longer than the file", journal(40), size: 101, .fresh),
        StartRow("complete", journal(40), size: 100, resume(100)),
        StartRow("total unknown", journal(4, total: nil), size: 5, resume(5, total: nil)),
        StartRow("another address", journal(40, url: "http://a/g"), size: 40, .fresh),
        StartRow("not wanted", journal(40), size: 40, allows: false, .fresh),
    ]

    @Test(arguments: starts)
    func startsWhereItMay(row: StartRow) {
        let start = DownloadPlanner.start(
            allowsResume: row.allows, url: "http://a/f", journal: row.journal, partSize: row.size,
            session: "now")
        #expect(start == row.expected)
    }

    @Test func anUnknownSessionIsNobodys() {
        let start = DownloadPlanner.start(
            allowsResume: true, url: "http://a/f", journal: Self.journal(16, session: nil),
            partSize: 40, session: nil)
        #expect(start == Self.resume(16))
    }
}
