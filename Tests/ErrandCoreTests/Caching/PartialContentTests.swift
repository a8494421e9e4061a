import ErrandHTTP
import Foundation
import HTTPTypes
import Testing

@testable import ErrandCore

struct PartialContentTests {
    private static let whole = Data((0..<20).map { UInt8($0) })

    private func part(
        _ range: Range<Int>, tag: String = "\"1\"", of total: Int = 20
    ) throws -> PartialContent {
        let place = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(total)"
        return try #require(
            PartialContent(
                status: 206, headers: [.eTag: tag, .contentRange: place], body: Self.whole[range]))
    }

    @Test func everyPairThatTouchesBecomesOne() throws {
        for start in 0..<12 {
            for end in (start + 1)...12 {
                let old = try part(4..<8)
                let newer = try part(start..<end)
                let both = old.combined(with: newer)
                guard start <= 8, end >= 4 else {
                    #expect(both == nil, "\(start)..<\(end)")
                    continue
                }
                let range = min(4, start)..<max(8, end)
                #expect(both?.range == range && both?.body == Self.whole[range])
                let text = "bytes \(range.lowerBound)-\(range.upperBound - 1)/20"
                #expect(both?.headers[.contentRange] == text)
                #expect(both?.headers[.contentLength] == "\(range.count)")
            }
        }
    }

    @Test func partsOfDifferentRepresentationsAreNotCombined() throws {
        let old = try part(0..<4)
        #expect(try old.combined(with: part(4..<8, tag: "\"2\"")) == nil)
        #expect(try old.combined(with: part(4..<8, of: 21)) == nil)
    }

    @Test func newerBytesAndHeadersAreUsed() throws {
        let old = try part(0..<8)
        let newer = try #require(
            PartialContent(
                status: 206,
                headers: [.eTag: "\"1\"", .contentRange: "bytes 2-3/20", .age: "7"],
                body: Data([90, 91])))
        let both = try #require(old.combined(with: newer))
        #expect(both.body == Data([0, 1, 90, 91, 4, 5, 6, 7]) && both.headers[.age] == "7")
    }

    @Test func completePartHasTheHeadersOfTheRepresentation() throws {
        let both = try #require(try part(0..<8).combined(with: part(8..<20)))
        #expect(both.isComplete && both.body == Self.whole)
        #expect(both.completeHeaders[.contentRange] == nil)
        #expect(both.completeHeaders[.contentLength] == "20")
        #expect(try !part(0..<19).isComplete && !part(1..<20).isComplete)
    }

    @Test(arguments: [
        ("bytes=4-7", 4..<8), ("bytes=5-5", 5..<6), ("bytes=3-7", nil), ("bytes=4-8", nil),
        ("bytes=4-", nil), ("bytes=-2", nil), ("bytes=4-5,6-7", nil), ("lines=4-5", nil),
    ])
    func rangeIsServedIfThePartContainsIt(field: String, range: Range<Int>?) throws {
        let served = try part(4..<8).part(for: field)
        #expect(served?.range == range && served?.body == range.map { Self.whole[$0] })
    }

    @Test func suffixIsServedFromTheEnd() throws {
        #expect(try part(10..<20).part(for: "bytes=-3")?.range == 17..<20)
    }

    @Test(
        arguments: [
            (200, ["ETag": "\"1\"", "Content-Range": "bytes 0-1/20"]),
            (206, ["Content-Range": "bytes 0-1/20"]),
            (206, ["ETag": "W/\"1\"", "Content-Range": "bytes 0-1/20"]),
            (206, ["ETag": "\"\"", "Content-Range": "bytes 0-1/20"]),
            (206, ["ETag": "\"1\"", "Content-Range": "bytes 0-1/*"]),
            (206, ["ETag": "\"1\"", "Content-Range": "bytes 0-2/20"]),
            (206, ["ETag": "\"1\"", "Content-Range": "bytes */20"]),
            (206, ["ETag": "\"1\""]),
            (206, ["ETag": "\"1\"", "Content-Range": "bytes 0-1/20", "Content-Encoding": "gzip"]),
        ] as [(Int, [String: String])])
    func otherResponsesAreNoParts(status: Int, headers: [String: String]) throws {
        var fields = HTTPFields()
        for (name, value) in headers { fields[try #require(HTTPField.Name(name))] = value }
        #expect(PartialContent(status: status, headers: fields, body: Data([0, 1])) == nil)
    }
}
