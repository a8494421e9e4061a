import ErrandCore
import ErrandTesting
import Foundation
import Testing

@testable import ErrandURLSession

/// Bytes for a paused receiver: in memory first, then in an unlinked file, always in order.
@Suite("SpillBuffer")
struct SpillBufferTests {
    private func append(_ data: Data, _ buffer: SpillBuffer) throws {
        try data.withUnsafeBytes { try buffer.append($0) }
    }

    @Test func orderIsKeptAcrossMemoryAndFile() throws {
        let buffer = SpillBuffer()
        var expected = Data()
        for round in 0..<40 {
            let piece = pattern(20_000 + round)
            expected += piece
            try append(piece, buffer)
        }
        #expect(buffer.spilled > 500_000)
        var read = Data()
        while true {
            let piece = try buffer.next(upTo: 7777)
            if piece.isEmpty { break }
            read += piece
            if read.count > 300_000, read.count < 310_000 {
                try append(Data("x".utf8), buffer)
                expected += Data("x".utf8)
            }
        }
        #expect(haveSameBytes(read, expected))
        #expect(buffer.spilled == 0)
        // An emptied buffer uses memory again.
        try append(pattern(1000), buffer)
        #expect(buffer.spilled == 0)
        #expect(haveSameBytes(try buffer.next(), pattern(1000)))
    }
}
