import ErrandHTTP
import Foundation
import TestSupport
import Testing

@testable import ErrandCore

/// Lines of bytes that share copies of the input.
@Suite(.limited) struct LineSlicesTests {
    /// Reads the chunks one after another from the same memory, as a transport does that reuses a buffer.
    private func lines(_ chunks: [[UInt8]]) throws -> [Data] {
        let memory = UnsafeMutableRawBufferPointer.allocate(
            byteCount: chunks.map(\.count).max() ?? 0, alignment: 1)
        defer { memory.deallocate() }
        var parser = LineSlices(maximumLineBytes: 1 << 20)
        var lines: [Data] = []
        for chunk in chunks {
            memory.copyBytes(from: chunk)
            var input = UnsafeRawBufferPointer(rebasing: memory[..<chunk.count])
            // Stops at the end of the input, like a reader that takes a number of lines at once.
            while !input.isEmpty, let line = try parser.next(in: &input) { lines.append(line) }
        }
        if let last = try parser.end() { lines.append(last) }
        return lines
    }

    @Test func linesOfRandomLengthsAreThoseOfASplit() throws {
        for seed in 0..<200 {
            var random = SeededGenerator(seed: UInt64(seed))
            let expected: [Data] = (0..<Int.random(in: 1...300, using: &random)).map { number in
                let isLong = Int.random(in: 0..<20, using: &random) == 0
                let count = Int.random(in: 0...(isLong ? 9000 : 100), using: &random)
                return Data(repeating: UInt8(truncatingIfNeeded: 0x61 + number % 26), count: count)
            }
            let body = expected.reduce(into: [UInt8]()) { $0 += $1 + [0x0A] }
            var chunks: [[UInt8]] = []
            var rest = body[...]
            while !rest.isEmpty {
                let count = Int.random(in: 1...min(rest.count, 20_000), using: &random)
                chunks.append(Array(rest.prefix(count)))
                rest = rest.dropFirst(count)
            }
            #expect(try lines(chunks) == expected, "seed \(seed)")
        }
    }

    @Test func aChunkInTheSameMemoryHasItsOwnLines() throws {
        let lines = try lines([Array("one\ntwo\n".utf8), Array("six\nten\n".utf8)])
        #expect(lines == ["one", "two", "six", "ten"].map { Data($0.utf8) })
    }

    @Test func aLineKeepsItsNeighboursUpToTheSizeOfABlock() throws {
        let lines = try lines([[UInt8](repeating: 0x0A, count: 100_000)])
        #expect(lines.count == 100_000 && lines.allSatisfy(\.isEmpty))
        let short = [UInt8](repeating: 0x61, count: 99) + [0x0A]
        let slices = try self.lines([Array(repeatElement(short, count: 1000).joined())])
        // A slice begins at its place in the block.
        #expect(slices.allSatisfy { $0.count == 99 && $0.endIndex <= LineSlices.blockBytes })
        #expect(slices.contains { $0.startIndex > 0 })
    }
}
