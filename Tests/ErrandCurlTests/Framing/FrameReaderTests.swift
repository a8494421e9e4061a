import TestSupport
import Testing

@testable import ErrandCurl

/// Frames are the same, however their bytes are split, and the same as those of the naive framer.
struct FrameReaderTests {
    /// The segments of bytes between random splits.
    private static func segments(_ bytes: [UInt8], _ random: inout SeededGenerator) -> [[UInt8]] {
        var segments: [[UInt8]] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = random.next(3) == 0 ? random.next(4) : random.next(40)
            segments.append(Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        return segments
    }

    /// A frame with random contents; about one of ten is not valid.
    private static func frame(_ random: inout SeededGenerator) -> [UInt8] {
        let kind =
            random.next(20) == 0
            ? random.next(256) : [0, 0, 0, 1, 1, 2, 3, 4, 6, 7, 8][random.next(11)]
        var flags = UInt8(random.next(4) == 0 ? random.next(256) : [0, 1, 4, 5][random.next(4)])
        var stream = UInt32(random.next(5))
        var count = random.next(60)
        if random.next(12) > 0 {
            switch kind {
            case 2: (count, stream) = (5, max(1, stream))
            case 3: (count, stream) = (4, max(1, stream))
            case 4: (count, stream) = (flags & 1 != 0 ? 0 : random.next(4) * 6, 0)
            case 6: (count, stream) = (8, 0)
            case 7: (count, stream) = (8 + random.next(9), 0)
            case 8: count = 4
            case 0, 1:
                stream = max(1, stream)
                if kind == 1 { flags |= random.next(5) > 0 ? 4 : 0 }
            default: break
            }
        }
        var payload = random.bytes(count)
        if flags & 8 != 0, kind < 2, !payload.isEmpty, random.next(6) > 0 {
            payload[0] = UInt8(random.next(count))
        }
        if random.next(200) == 0 {
            payload = random.bytes(16_384)
        }
        var bytes = Wire.frame(UInt8(kind), flags: flags, stream: stream, payload)
        // Header blocks of several frames.
        if kind == 1, flags & 4 == 0, random.next(8) > 0 {
            for _ in 0..<random.next(10) {
                bytes += Wire.continuation(stream, random.bytes(random.next(4)), endsHeaders: false)
            }
            bytes += Wire.continuation(stream, random.bytes(random.next(30)))
        }
        return bytes
    }

    @Test(arguments: UInt64(1)...60)
    func randomFrames(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<40 {
            var bytes: [UInt8] = []
            for _ in 0..<random.next(12) { bytes += Self.frame(&random) }
            if random.next(2) == 0 { bytes.removeLast(min(bytes.count, random.next(30))) }
            let expected = NaiveFramer.read(bytes)
            #expect(FrameTexts.read([bytes]) == expected)
            #expect(FrameTexts.read(Self.segments(bytes, &random)) == expected)
            #expect(FrameTexts.read(bytes.map { [$0] }) == expected)
        }
    }

    @Test(arguments: UInt64(1)...20)
    func randomBytes(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<100 {
            let bytes = [0, 0] + random.bytes(random.next(100))
            #expect(FrameTexts.read(bytes.map { [$0] }) == FrameTexts.read([bytes]))
            #expect(FrameTexts.read([bytes]) == NaiveFramer.read(bytes))
        }
    }

    /// RFC 9113 §6.9: the session need not know the stream for the fault of an increment.
    @Test func emptyIncrements() {
        for bytes in [Wire.windowUpdate(0, 0), Wire.windowUpdate(0, 0x8000_0000)] {
            #expect(FrameTexts.read([bytes]) == ["failed 1"])
        }
        #expect(FrameTexts.read([Wire.windowUpdate(2, 0)]) == ["faulty 2 1"])
    }

    /// Content is passed on as it arrives, with the length of the frame at its first part.
    @Test func partsOfContent() {
        var reader = FrameReader(maximumBlock: 100)
        let frame = Wire.data(1, "hello", ends: true, padding: 3)
        var parts: [String] = []
        for byte in frame {
            [byte].withUnsafeBytes { bytes in
                var input = bytes
                while case .frame(.data(let part)) = reader.next(&input) {
                    parts.append(
                        "\(String(decoding: part.bytes, as: UTF8.self)) \(part.frameLength) "
                            + "\(part.contentLength) \(part.isFirst) \(part.endsStream)")
                }
            }
        }
        #expect(
            parts == [
                "h 9 5 true false", "e 0 0 false false", "l 0 0 false false", "l 0 0 false false",
                "o 0 0 false true",
            ])
    }
}
