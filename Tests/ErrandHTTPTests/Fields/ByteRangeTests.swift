import ErrandHTTP
import Testing

/// Single byte ranges (RFC 9110 §14.1.2).
@Suite struct ByteRangeTests {
    @Test(arguments: [
        ("bytes=0-0", 0..<1), ("bytes=0-4", 0..<5), ("BYTES=2-", 2..<10), ("bytes=-3", 7..<10),
        ("bytes=-99", 0..<10), ("bytes=5-99", 5..<10), ("bytes=9-9223372036854775807", 9..<10),
        ("bytes= 1-2 ", 1..<3),
    ])
    func validRanges(text: String, expected: Range<Int>) {
        #expect(ByteRange.within(text, count: 10) == expected)
    }

    @Test(arguments: [
        "", "bytes", "bytes=", "bytes=-", "bytes=-0", "bytes=10-", "bytes=10-12", "bytes=4-3",
        "bytes=0-1,3-4", "bytes=a-b", "bytes=--1", "bytes=+1-2", "bytes=1", "lines=0-1",
        "bytes=99999999999999999999-", "bytes=0-99999999999999999999",
        "bytes=-99999999999999999999",
        "bytes=\u{0661}-2",
    ])
    func otherRangesAreLeftToTheServer(text: String) {
        #expect(ByteRange.within(text, count: 10) == nil)
    }

    @Test func emptyBodyHasNoRanges() {
        #expect(ByteRange.within("bytes=0-", count: 0) == nil)
        #expect(ByteRange.within("bytes=-1", count: 0) == nil)
    }
}
