import TestSupport
import Testing

@testable import ErrandWebSocket

/// Frames of the client, read by the naive reader.
struct WebSocketFrameWriterTests {
    private static func frame(
        _ payload: [UInt8], mask: UInt32 = 0x37FA_213D, into output: inout WebSocketBuffer
    ) {
        payload.withUnsafeBytes {
            WebSocketFrameWriter.write(.binary, .final, $0, mask: mask, into: &output)
        }
    }

    /// RFC 6455 §5.7: a masked "Hello".
    @Test func sample() {
        var output = WebSocketBuffer()
        Array("Hello".utf8).withUnsafeBytes {
            WebSocketFrameWriter.write(
                .text, .final, $0, mask: UInt32(bigEndian: 0x37FA_213D), into: &output)
        }
        let expected: [UInt8] = [
            0x81, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58,
        ]
        #expect(Array(output.contents) == expected)
    }

    /// §5.2: the shortest form of the length; §5.3: the mask of each byte, also beside the words.
    @Test(arguments: Array(0...40) + [124, 125, 126, 127, 65_535, 65_536, 70_001])
    func lengths(_ count: Int) throws {
        var random = SeededGenerator(seed: UInt64(count))
        let payload = random.bytes(count)
        var output = WebSocketBuffer()
        // The frame begins at different places of memory.
        for _ in 0..<(count % 7) { output.append(1) { $0[0] = 0 } }
        Self.frame(payload, into: &output)
        output.removeFirst(count % 7)
        let (frame, size) = try #require(NaiveWebSocket.frame(Array(output.contents)[...]))
        #expect(frame.isMasked && frame.isMinimal && frame.isComplete && frame.first == 0x82)
        #expect(frame.payload == payload)
        #expect(size == output.count)
    }

    @Test func flags() {
        var output = WebSocketBuffer()
        for (opcode, flags): (WebSocketOpcode, WebSocketFrameWriter.Flags) in [
            (.text, []), (.continuation, .final), (.binary, [.final, .compressed]),
            (.close, .final), (.ping, .final), (.pong, .final),
        ] {
            WebSocketFrameWriter.write(
                opcode, flags, UnsafeRawBufferPointer(start: nil, count: 0), mask: 0,
                into: &output)
        }
        let texts = NaiveWebSocket.clientFrames(Array(output.contents))
        #expect(texts == ["text unfinished", "more", "binary reserved 4", "close", "ping", "pong"])
    }

    /// §5.3: each frame has a key of its own, which is not predictable from the one before.
    @Test func keysAreFresh() {
        let connection = TestConnection()
        var keys: Set<[UInt8]> = []
        for _ in 0..<1000 {
            #expect(connection.send([0, 0, 0, 0]))
            let bytes = Array(connection.output.contents)
            keys.insert(Array(bytes[2..<6]))
            #expect(Array(bytes[6...]) == Array(bytes[2..<6]))
            connection.output.removeAll()
        }
        // Of 1000 numbers of 32 bits, two are equal about once in 8,600 runs; three pairs never are.
        #expect(keys.count > 997)
    }
}

/// The buffer of frames that wait to be sent.
struct WebSocketBufferTests {
    @Test(arguments: UInt64(1)...20)
    func keepsTheOrder(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var buffer = WebSocketBuffer()
        var expected: [UInt8] = []
        for _ in 0..<400 {
            let bytes = random.bytes(random.below(random.below(10) == 0 ? 9_000 : 200))
            buffer.append(bytes.count) { $0.copyBytes(from: bytes) }
            expected += bytes
            if random.below(4) > 0 {
                let count = random.below(3) == 0 ? expected.count : random.below(expected.count + 1)
                buffer.removeFirst(count)
                expected.removeFirst(count)
            }
            #expect(buffer.count == expected.count && buffer.isEmpty == expected.isEmpty)
            #expect(Array(buffer.contents) == expected)
        }
    }
}
