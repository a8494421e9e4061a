import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import ErrandCurl

/// Frames and header blocks of hpack and hyperframe of PyPI, in both directions.
///
/// `Scripts/framing-opinions` writes the frames that are read here into the folder
/// `ERRAND_FRAMING_OPINIONS`, and reads what is written here. Without the folder, there is nothing to
/// compare.
struct SecondOpinionTests {
    private struct Item: Codable {
        var bytes: String
        var text: String
    }

    private struct Head: Codable {
        var bytes: String
        var fields: [[String]]
    }

    private struct Written: Codable {
        var heads: [[Head]] = []
        var frames: [Item] = []
    }

    static let folders = [ProcessInfo.processInfo.environment["ERRAND_FRAMING_OPINIONS"]]
        .compactMap(\.self)

    @Test(arguments: folders)
    func framesOfHyperframe(_ folder: String) throws {
        let data = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/frames.json"))
        let items = try JSONDecoder().decode([Item].self, from: data)
        #expect(items.count > 1_000)
        for item in items {
            let bytes = HeaderDecoderTests.bytes(item.bytes)
            #expect(FrameTexts.read([bytes]) == [item.text])
        }
        // All in one stream, as they were sent.
        let all = items.flatMap { HeaderDecoderTests.bytes($0.bytes) }
        #expect(FrameTexts.read([all]) == items.map(\.text))
    }

    @Test(arguments: folders)
    func framesAndHeadsForPython(_ folder: String) throws {
        var random = SeededGenerator(seed: 11)
        var written = Written()
        for _ in 0..<20 { written.heads.append(Self.heads(&random)) }
        for _ in 0..<500 { written.frames += Self.frames(&random) }
        let data = try JSONEncoder().encode(written)
        try data.write(to: URL(fileURLWithPath: "\(folder)/written.json"))
        #expect(written.frames.count >= 500)
    }

    private static func heads(_ random: inout SeededGenerator) -> [Head] {
        var encoder = HeaderEncoder()
        let names = ["accept", "cookie", "authorization", "x-a", "x-b", "user-agent", "te"]
        let letters = Array("abcxyz0189 ,;=/~^|\\é€")
        return (0..<40).map { _ in
            if random.next(10) == 0 {
                encoder.changeTableSize(to: [0, 64, 1_000, 4_096][random.next(4)])
            }
            let output = TextBuffer(capacity: 64)
            encoder.begin(isHead: random.next(5) > 0, into: output)
            let path = "/" + String((0..<random.next(20)).map { _ in letters[random.next(10)] })
            let host = "h\(random.next(3)).test"
            encoder.append(method: "GET", into: output)
            encoder.append(authority: host, into: output)
            Array(path.utf8).withUnsafeBytes { encoder.append(path: $0, into: output) }
            var fields = [[":method", "GET"], [":authority", host], [":path", path]]
            for _ in 0..<random.next(10) {
                let count = random.next(40) == 0 ? random.next(3_000) : random.next(30)
                let value =
                    "v" + String((0..<count).map { _ in letters[random.next(letters.count)] })
                    + "\(random.next(3))"
                let name = names[random.next(names.count)]
                guard let known = HTTPField.Name(name) else { continue }
                encoder.append(HTTPField(name: known, lenientValue: value.utf8), into: output)
                fields.append([name, value])
            }
            return Head(bytes: NaiveFramer.hex(output.contents), fields: fields)
        }
    }

    private static func frames(_ random: inout SeededGenerator) -> [Item] {
        let output = TextBuffer(capacity: 64)
        let stream = UInt32(1 + random.next(1 << 30))
        let number = random.next(0x7FFF_FFFF) + 1
        let code = FrameErrorCode(rawValue: UInt32(random.next(14)))
        let bytes = random.bytes(random.next(100))
        var texts: [String] = []
        switch random.next(7) {
        case 0:
            _ = FrameWriter.writeData(stream, limit: 100, into: output) { room in
                room.copyBytes(from: bytes)
                return (bytes.count, bytes.count % 2 == 0)
            }
            let flag = bytes.count % 2 == 0 ? "END_STREAM" : ""
            texts = ["DataFrame \(stream) \(flag) \(NaiveFramer.hex(bytes))"]
        case 1:
            FrameWriter.writeHeaders(stream, endsStream: true, maximum: 60, into: output) {
                output in
                bytes.withUnsafeBytes { output.append($0) }
            }
            let ends = bytes.count <= 60 ? "END_HEADERS+END_STREAM" : "END_STREAM"
            texts = ["HeadersFrame \(stream) \(ends) \(NaiveFramer.hex(bytes.prefix(60)))"]
            if bytes.count > 60 {
                texts.append(
                    "ContinuationFrame \(stream) END_HEADERS \(NaiveFramer.hex(bytes.dropFirst(60)))"
                )
            }
        case 2:
            FrameWriter.writeReset(stream, code, into: output)
            texts = ["RstStreamFrame \(stream)  \(code.rawValue)"]
        case 3:
            FrameWriter.writeSettings([(4, number), (6, 7)], into: output)
            texts = ["SettingsFrame 0  4=\(number) 6=7"]
        case 4:
            let isAcknowledgement = number % 2 == 0
            FrameWriter.writePing(
                UInt64(number) << 20, isAcknowledgement: isAcknowledgement, into: output)
            let hex = NaiveFramer.hex(
                [56, 48, 40, 32, 24, 16, 8, 0].map {
                    UInt8(truncatingIfNeeded: (UInt64(number) << 20) >> $0)
                })
            texts = ["PingFrame 0 \(isAcknowledgement ? "ACK" : "") \(hex)"]
        case 5:
            FrameWriter.writeGoAway(code, into: output)
            texts = ["GoAwayFrame 0  0 \(code.rawValue)"]
        default:
            FrameWriter.writeWindowUpdate(stream, increment: number, into: output)
            texts = ["WindowUpdateFrame \(stream)  \(number)"]
        }
        var rest = Array(output.contents)
        return texts.map { text in
            let count = 9 + (Int(rest[0]) << 16 | Int(rest[1]) << 8 | Int(rest[2]))
            defer { rest.removeFirst(count) }
            return Item(bytes: NaiveFramer.hex(rest.prefix(count)), text: text)
        }
    }
}
