import Testing

@testable import ErrandCurl

/// Content of a receiver that pauses often.
struct UnreadContentTests {
    private func bytes(_ range: Range<Int>) -> [UInt8] {
        range.map { UInt8(truncatingIfNeeded: $0) }
    }

    /// The rest is moved rarely: a small part leaves it where it is.
    @Test func restStaysInPlace() {
        var content = UnreadContent()
        bytes(0..<100_000).withUnsafeBytes { content.append(contentsOf: $0) }
        var (moves, accepted, end) = (0, 0, 0)
        while !content.isEmpty {
            _ = content.accept { rest in
                let start = rest.baseAddress.map { Int(bitPattern: $0) } ?? 0
                if accepted > 0, start != end { moves += 1 }
                let isInOrder = rest.first == UInt8(truncatingIfNeeded: accepted)
                #expect(isInOrder)
                let count = min(100, rest.count)
                accepted += count
                end = start + count
                return count
            }
        }
        #expect(accepted == 100_000)
        #expect(moves < 20, "The rest was moved \(moves) times.")
    }

    /// Content that is added while it is accepted does not let the storage grow.
    @Test func acceptedBytesAreRemoved() {
        var content = UnreadContent()
        bytes(0..<1_000).withUnsafeBytes { content.append(contentsOf: $0) }
        for round in 0..<5_000 {
            let part = bytes(1_000 + 100 * round..<1_100 + 100 * round)
            part.withUnsafeBytes { content.append(contentsOf: $0) }
            _ = content.accept { _ in 100 }
            let isSmall = content.storageCount <= 2_400
            #expect(isSmall)
        }
        let count = content.accept { $0.count }
        #expect(count == 1_000 && content.isEmpty)
    }

    @Test func nothingIsAccepted() {
        var content = UnreadContent()
        let none = content.accept { $0.count }
        #expect(content.isEmpty && none == 0)
        [1, 2].withUnsafeBytes { content.append(contentsOf: $0) }
        let refused = content.accept { _ in 0 }
        #expect(refused == 0 && !content.isEmpty)
    }
}
