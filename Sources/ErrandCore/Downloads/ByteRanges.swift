/// A set of bytes of a file: disjoint ranges in ascending order, none adjacent to the next.
package struct ByteRanges: Sendable, Hashable {
    package private(set) var ranges: [Range<Int64>] = []

    /// - Parameter ranges: Ranges in any order, which may overlap.
    package init(_ ranges: some Sequence<Range<Int64>> = []) {
        for range in ranges { insert(range) }
    }

    /// The number of bytes.
    package var count: Int64 { ranges.reduce(0) { $0 + $1.upperBound - $1.lowerBound } }

    /// The end of the last range; 0 if there is none.
    package var end: Int64 { ranges.last?.upperBound ?? 0 }

    /// The number of bytes from the first one of the file up to the first gap.
    package var prefix: Int64 { ranges.first?.lowerBound == 0 ? ranges[0].upperBound : 0 }

    package mutating func insert(_ range: Range<Int64>) {
        guard !range.isEmpty else { return }
        var merged = range
        var others: [Range<Int64>] = []
        for other in ranges {
            if other.upperBound < merged.lowerBound || other.lowerBound > merged.upperBound {
                others.append(other)
            } else {
                merged =
                    min(
                        merged.lowerBound, other.lowerBound)..<max(
                        merged.upperBound, other.upperBound)
            }
        }
        let index = others.firstIndex { $0.lowerBound > merged.lowerBound } ?? others.endIndex
        others.insert(merged, at: index)
        ranges = others
    }

    /// The ranges below an end that are not in the set.
    package func gaps(below end: Int64) -> [Range<Int64>] {
        var gaps: [Range<Int64>] = []
        var position: Int64 = 0
        for range in ranges where position < end {
            if range.lowerBound > position {
                gaps.append(position..<min(range.lowerBound, end))
            }
            position = max(position, range.upperBound)
        }
        if position < end { gaps.append(position..<end) }
        return gaps
    }

    /// First and last bound of each range, one after the other: the form of the journal.
    package var bounds: [Int64] { ranges.flatMap { [$0.lowerBound, $0.upperBound] } }

    /// - Returns: `nil` if the bounds are not those of ascending, disjoint ranges.
    package init?(bounds: [Int64]) {
        guard bounds.count.isMultiple(of: 2) else { return nil }
        var end: Int64 = -1
        for index in stride(from: 0, to: bounds.count, by: 2) {
            let (lower, upper) = (bounds[index], bounds[index + 1])
            guard lower > end, lower < upper else { return nil }
            ranges.append(lower..<upper)
            end = upper
        }
    }
}
