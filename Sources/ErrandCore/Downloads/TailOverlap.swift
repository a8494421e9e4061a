package import ErrandSystem

/// Compares the bytes that were requested again with the end of the part file; pure.
package struct TailOverlap: Sendable {
    private let expected: Data
    private var position = 0

    package init(_ expected: Data) { self.expected = expected }

    /// The number of bytes that belong to the overlap; `nil` if one of them differs.
    package mutating func matched(by bytes: UnsafeRawBufferPointer) -> Int? {
        let count = min(bytes.count, expected.count - position)
        guard expected[position..<position + count].elementsEqual(bytes.prefix(count)) else {
            return nil
        }
        position += count
        return count
    }
}
