import Foundation
import TestSupport
import Testing

@testable import ErrandCore

/// The copy of a body in memory, and in a file without a name.
@Suite(.limited) struct SpooledCopyTests {
    private static func random(_ count: Int, seed: UInt64) -> Data {
        var generator = SeededGenerator(seed: seed)
        return Data((0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) })
    }

    /// Sizes around the 64 KiB that stay in memory.
    @Test(arguments: [0, 1, 65_535, 65_536, 65_537, 131_072, 131_073, 1 << 20])
    func copyIsIdentical(count: Int) {
        let body = Self.random(count, seed: UInt64(count))
        for piece in [1000, 65_536, 70_001] {
            let copy = SpooledCopy(limit: Int64(count))
            var rest = body[...]
            while !rest.isEmpty {
                #expect(copy.append(rest.prefix(piece)))
                rest = rest.dropFirst(piece)
            }
            #expect(copy.finish() == count)
            #expect(copy.bytes(in: 0..<count) == body)
            let range = (count / 3)..<(count * 2 / 3)
            #expect(copy.bytes(in: range) == body[range])
        }
    }

    @Test func aLargerBodyIsGivenUp() {
        let copy = SpooledCopy(limit: 10)
        #expect(copy.append(Data(count: 10)))
        #expect(!copy.append(Data(count: 1)))
        #expect(copy.finish() == nil)
        // Later bytes do not bring it back.
        #expect(!copy.append(Data()))
        #expect(copy.finish() == nil)
        let large = SpooledCopy(limit: 100_000)
        #expect(large.append(Data(count: 99_999)) && !large.append(Data(count: 2)))
        #expect(large.finish() == nil)
    }

    #if os(Linux)
        @Test func filesAreClosed() throws {
            func openFiles() throws -> Int {
                try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
                    .filter {
                        let path = "/proc/self/fd/\($0)"
                        let target = try? FileManager.default.destinationOfSymbolicLink(
                            atPath: path)
                        return target?.contains("errand-copy") == true
                    }.count
            }
            // Other tests have fewer such files open at the same time.
            var copies: [SpooledCopy] = []
            for _ in 0..<200 {
                let copy = SpooledCopy(limit: 1 << 20)
                #expect(copy.append(Data(count: 70_000)))
                copies.append(copy)
            }
            #expect(try openFiles() >= 200)
            copies = []
            #expect(try openFiles() < 200)
        }
    #endif
}

extension SpooledCopy {
    fileprivate func append(_ data: Data) -> Bool { data.withUnsafeBytes { append($0) } }
}
