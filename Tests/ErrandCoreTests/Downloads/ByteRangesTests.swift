import ErrandCore
import Testing

@Suite struct ByteRangesTests {
    @Test func adjacentAndOverlappingRangesAreMerged() {
        var ranges = ByteRanges([10..<20, 30..<40, 5..<5])
        #expect(ranges.ranges == [10..<20, 30..<40])
        #expect(ranges.count == 20 && ranges.prefix == 0)
        ranges.insert(20..<25)
        ranges.insert(0..<3)
        #expect(ranges.ranges == [0..<3, 10..<25, 30..<40])
        ranges.insert(24..<31)
        #expect(ranges.ranges == [0..<3, 10..<40])
        ranges.insert(2..<50)
        #expect(ranges.ranges == [0..<50] && ranges.prefix == 50)
    }

    @Test func gapsAreTheRestBelowTheEnd() {
        let ranges = ByteRanges([5..<10, 20..<30])
        #expect(ranges.gaps(below: 40) == [0..<5, 10..<20, 30..<40])
        #expect(ranges.gaps(below: 25) == [0..<5, 10..<20])
        #expect(ranges.gaps(below: 15) == [0..<5, 10..<15])
        #expect(ByteRanges([0..<40]).gaps(below: 40).isEmpty)
        #expect(ByteRanges().gaps(below: .max) == [0..<Int64.max])
    }

    @Test(
        arguments: [[0, 5, 9], [5, 5], [5, 4], [-1, 4], [0, 5, 5, 9], [0, 5, 3, 9]] as [[Int64]])
    func invalidBoundsAreRefused(bounds: [Int64]) {
        #expect(ByteRanges(bounds: bounds) == nil)
    }

    @Test func boundsDescribeTheRanges() {
        let ranges = ByteRanges([0..<5, 7..<9])
        #expect(ranges.bounds == [0, 5, 7, 9])
        #expect(ByteRanges(bounds: ranges.bounds) == ranges)
        #expect(ByteRanges(bounds: []) == ByteRanges())
    }
}
