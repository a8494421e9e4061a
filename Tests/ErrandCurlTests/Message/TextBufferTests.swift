import Testing

@testable import ErrandCurl

/// Bytes that are sent while more are appended.
struct TextBufferTests {
    /// An upload fills the buffer before each write, of which the system accepts a part.
    @Test(arguments: [700, 9_000, 64_000])
    func sentBytesAreRemoved(_ accepted: Int) {
        let limit = 64 << 10
        let buffer = TextBuffer(capacity: 16)
        var (sent, total, appended, largest, misplaced) = (0, 0, 0, 0, 0)
        for _ in 0..<2_000 {
            while buffer.count - sent < limit {
                let part = (0..<4_096).map { UInt8(truncatingIfNeeded: (appended + $0) % 251) }
                part.withUnsafeBytes { buffer.append($0) }
                appended += part.count
            }
            let count = min(accepted, buffer.count - sent)
            let first = buffer.contents[sent]
            if Int(first) != total % 251 { misplaced += 1 }
            total += count
            sent = buffer.remove(sent: sent + count, limit: limit)
            largest = max(largest, buffer.count)
        }
        #expect(misplaced == 0)
        #expect(largest <= 4 * limit)
        #expect(appended - total == buffer.count - sent)
    }

    /// The storage of a large backlog is released when the buffer is empty.
    @Test func storageIsReleased() {
        let buffer = TextBuffer(capacity: 16)
        for (size, isKept) in [(250, true), (2_000, false)] {
            buffer.append(String(repeating: "x", count: size))
            let start = buffer.bytes
            #expect(buffer.remove(sent: size, limit: 100) == 0)
            #expect(buffer.count == 0 && (buffer.bytes == start) == isKept)
        }
    }
}
