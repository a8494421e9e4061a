import ErrandCore
import ErrandHTTP
import Foundation
import Testing

/// The start position of a download and its handling of responses, as tables.
@Suite struct DownloadPlannerTests {
    private static let tag = "\"v1\""

    private static func resume(_ offset: Int64, total: Int64? = 100) -> DownloadStart {
        .resume(offset: offset, validator: tag, total: total)
    }

    struct ResponseRow: Sendable, CustomTestStringConvertible {
        var name: String
        var status: Int
        var headers: HTTPFields
        var length: Int64?
        var start: DownloadStart
        var expected: DownloadResponseAction
        var testDescription: String { name }

        init(
            _ name: String, _ status: Int, _ headers: HTTPFields, length: Int64? = nil,
            _ start: DownloadStart, _ expected: DownloadResponseAction
        ) {
            (self.name, self.status, self.headers) = (name, status, headers)
            (self.length, self.start, self.expected) = (length, start, expected)
        }
    }

    static let whole: [ResponseRow] = [
        ResponseRow("200", 200, [:], length: 5, .fresh, .write(total: 5, validator: nil)),
        ResponseRow("200 without length", 200, [:], .fresh, .write(total: nil, validator: nil)),
        ResponseRow(
            "200 with a strong tag", 200, [.eTag: tag], length: 5, .fresh,
            .write(total: 5, validator: tag)),
        ResponseRow(
            "200 instead of 206", 200, [.eTag: "\"v2\""], length: 9, resume(40),
            .write(total: 9, validator: "\"v2\"")),
        ResponseRow("404", 404, [:], .fresh, .reject),
        ResponseRow("404 while resuming", 404, [.eTag: tag], resume(40), .reject),
        ResponseRow("302", 302, [:], resume(40), .reject),
        ResponseRow("416 without Range", 416, [.contentRange: "bytes */0"], .fresh, .reject),
    ]

    static let parts: [ResponseRow] = [
        ResponseRow(
            "remaining bytes", 206, [.contentRange: "bytes 40-99/100", .eTag: tag], length: 60,
            resume(40), .append(at: 40, total: 100)),
        ResponseRow(
            "some of the remaining bytes", 206, [.contentRange: "bytes 40-49/100"], length: 10,
            resume(40), .append(at: 40, total: 100)),
        ResponseRow(
            "total known from the response", 206, [.contentRange: "bytes 40-99/100"],
            resume(40, total: nil), .append(at: 40, total: 100)),
        ResponseRow(
            "total missing in the response", 206, [.contentRange: "bytes 40-99/*"], resume(40),
            .append(at: 40, total: 100)),
        ResponseRow(
            "wrong start", 206, [.contentRange: "bytes 39-99/100"], resume(40), .restart),
        ResponseRow(
            "from the first byte", 206, [.contentRange: "bytes 0-99/100"], resume(40), .restart),
        ResponseRow(
            "another total", 206, [.contentRange: "bytes 40-100/101"], resume(40), .restart),
        ResponseRow(
            "total that has grown", 206, [.contentRange: "bytes 40-99/101"], resume(40), .restart),
        ResponseRow(
            "beyond the known total", 206, [.contentRange: "bytes 40-120/*"], resume(40), .restart),
        ResponseRow(
            "another unit", 206, [.contentRange: "items 40-99/100"], resume(40), .restart),
        ResponseRow("no range at all", 206, [:], resume(40), .restart),
        ResponseRow("unsatisfied", 206, [.contentRange: "bytes */100"], resume(40), .restart),
        ResponseRow(
            "another version", 206, [.contentRange: "bytes 40-99/100", .eTag: "\"v2\""], resume(40),
            .restart),
        ResponseRow(
            "weak entity tag", 206, [.contentRange: "bytes 40-99/100", .eTag: "W/\"v1\""],
            resume(40), .restart),
        ResponseRow(
            "encoded", 206, [.contentRange: "bytes 40-99/100", .contentEncoding: "gzip"],
            resume(40),
            .restart),
        ResponseRow(
            "several parts", 206,
            [.contentRange: "bytes 40-99/100", .contentType: "Multipart/ByteRanges; boundary=x"],
            resume(40), .restart),
        ResponseRow(
            "length against range", 206, [.contentRange: "bytes 40-99/100"], length: 61, resume(40),
            .restart),
    ]

    static let unsatisfied: [ResponseRow] = [
        ResponseRow(
            "complete", 416, [.contentRange: "bytes */100"], resume(100), .settle(total: 100)),
        ResponseRow(
            "complete, total unknown", 416, [.contentRange: "bytes */100"],
            resume(100, total: nil), .settle(total: 100)),
        ResponseRow("below the part", 416, [.contentRange: "bytes */90"], resume(100), .restart),
        ResponseRow("above the part", 416, [.contentRange: "bytes */120"], resume(100), .restart),
        ResponseRow("without size", 416, [:], resume(100), .restart),
        ResponseRow(
            "another version", 416, [.contentRange: "bytes */100", .eTag: "\"v2\""], resume(100),
            .restart),
    ]

    @Test(arguments: whole + parts + unsatisfied)
    func responseActions(row: ResponseRow) {
        let action = DownloadPlanner.action(
            row.status, row.headers, contentLength: row.length, after: row.start)
        #expect(action == row.expected)
    }

    /// The overlap of a weak validator must be followed by new bytes, or by the end of the file.
    @Test(arguments: [(89, false), (99, false), (100, true), (149, true)])
    func rangeWithoutNewBytesStartsAgain(last: Int, isAppended: Bool) {
        let headers: HTTPFields = [.eTag: Self.tag, .contentRange: "bytes 80-\(last)/150"]
        let action = DownloadPlanner.action(
            206, headers, contentLength: nil, after: Self.resume(100, total: 150),
            RangeRules(overlap: 20))
        #expect(action == (isAppended ? .append(at: 100, total: 150) : .restart))
    }

    @Test(arguments: [201, 202, 204, 205, 206, 226])
    func statusesWithoutACompleteFileAreRefused(status: Int) {
        let action = DownloadPlanner.action(status, [:], contentLength: nil, after: .fresh)
        guard case .refuse = action else {
            Issue.record("\(action)")
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
        StartRow("process killed", journal(16), size: 40, resume(40)),
        StartRow("system crashed", journal(16, session: "then"), size: 40, resume(16)),
        StartRow("session unknown", journal(16, session: nil), size: 40, resume(16)),
        StartRow("system crashed before a sync", journal(0, session: "then"), size: 40, .fresh),
        StartRow("part shorter than the journal's offset", journal(40), size: 39, .fresh),
        StartRow("part longer than the total", journal(40), size: 101, .fresh),
        StartRow("complete", journal(40), size: 100, resume(100)),
        StartRow("total unknown", journal(4, total: nil), size: 5, resume(5, total: nil)),
        StartRow("another URL", journal(40, url: "http://a/g"), size: 40, .fresh),
        StartRow("resumption disabled", journal(40), size: 40, allows: false, .fresh),
    ]

    private let plan = DownloadPlan(to: URL(fileURLWithPath: "/tmp/f"))

    @Test(arguments: starts)
    func startPositions(row: StartRow) {
        let start = DownloadPlanner.start(
            allowsResume: row.allows, url: "http://a/f", journal: row.journal, partSize: row.size,
            session: "now", plan: plan)
        #expect(start == row.expected)
    }

    @Test func unknownSessionUsesTheSyncedOffset() {
        let start = DownloadPlanner.start(
            allowsResume: true, url: "http://a/f", journal: Self.journal(16, session: nil),
            partSize: 40, session: nil, plan: plan)
        #expect(start == Self.resume(16))
    }
}
