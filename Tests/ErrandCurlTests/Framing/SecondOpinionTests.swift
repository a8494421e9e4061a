import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import ErrandCurl

/// Frames and header blocks of hpack and hyperframe of PyPI, in both directions.
///
/// `Scripts/framing-opinions` writes the frames that are read here into the folder
/// `ERRAND_FRAMING_OPINIONS`, and reads what is written here. Without the folder, these are some samples
/// and the naive readers.
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

    private static let folder = ProcessInfo.processInfo.environment["ERRAND_FRAMING_OPINIONS"]

    /// Some frames of hyperframe.
    private static let samples = [
        Item(
            bytes: "00001807000000000048007596caea05185d780107bddb234a767715dfd0e211a8",
            text: "away 48007596caea0518"),
        Item(
            bytes: "000004080045239d3602f90256",
            text: "window 1159961910 02f90256"),
        Item(
            bytes: "00000f010d13d0ea0204e852afcdf84d5f13f07800000000",
            text: "head 332458498 e852afcdf84d5f13f078 end"),
        Item(
            bytes: "000008060000000000bd5545dd199e60d5",
            text: "ping bd5545dd199e60d5"),
        Item(
            bytes: "000004030033948b3fecd76385",
            text: "reset 865372991 ecd76385"),
        Item(
            bytes:
                "000032000871185dd80c29df604d1efefbf1ad4e8a4eb493980424225f3261b88ab41e5213fd8ccc50103577b780d1000000000000000000000000",
            text:
                "data 1897422296 29df604d1efefbf1ad4e8a4eb493980424225f3261b88ab41e5213fd8ccc50103577b780d1 50"
        ),
        Item(
            bytes: "000008060100000000870cc0525dd36973",
            text: "pong 870cc0525dd36973"),
        Item(
            bytes: "00000c04000000000000023d682dfe0003ddd7e27c",
            text: "settings 00023d682dfe0003ddd7e27c"),
        Item(
            bytes: "00000502004954f3730000003607",
            text: "priority 1230304115"),
        Item(
            bytes: "000000040100000000",
            text: "settled"),
        Item(
            bytes:
                "000034000962a3b5a7231427ecf213d4025a2da5957278762d2e0000000000000000000000000000000000000000000000000000000000000000000000",
            text: "data 1654896039 1427ecf213d4025a2da5957278762d2e 52 end"),
        Item(
            bytes:
                "000032012c56e4490223800000164d6960554373d264472c0000000000000000000000000000000000000000000000000000000000000000000000",
            text: "head 1457801474 6960554373d264472c"),
        Item(
            bytes:
                "000029012d37ea064b0c800000186f70d83057ef3b6c233a65bc1ffd945b4fe18a7fdb7b7ea1000000000000000000000000",
            text: "head 938083915 70d83057ef3b6c233a65bc1ffd945b4fe18a7fdb7b7ea1 end"),
        Item(
            bytes:
                "00002d000033e8861ef257b77da8c46decf7e56b79fc06b0cb359ddcf9c2a3a136ef3f533431f6f987b7eee1394f95172bc95b71829c",
            text:
                "data 870876702 f257b77da8c46decf7e56b79fc06b0cb359ddcf9c2a3a136ef3f533431f6f987b7eee1394f95172bc95b71829c 45"
        ),
    ]

    @Test func framesOfHyperframe() throws {
        var items = Self.samples
        if let folder = Self.folder {
            let data = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/frames.json"))
            items += try JSONDecoder().decode([Item].self, from: data)
            #expect(items.count > 1_000)
        }
        for item in items {
            let bytes = HeaderDecoderTests.bytes(item.bytes)
            #expect(FrameTexts.read([bytes]) == [item.text])
        }
        // All in one stream, as they were sent.
        let all = items.flatMap { HeaderDecoderTests.bytes($0.bytes) }
        #expect(FrameTexts.read([all]) == items.map(\.text))
    }

    @Test func framesAndHeadsForPython() throws {
        var random = SeededGenerator(seed: 11)
        var written = Written()
        for _ in 0..<20 { written.heads.append(Self.heads(&random)) }
        for _ in 0..<500 { written.frames += Self.frames(&random) }
        if let folder = Self.folder {
            let data = try JSONEncoder().encode(written)
            try data.write(to: URL(fileURLWithPath: "\(folder)/written.json"))
        }
        // The naive readers have an opinion without the folder.
        for heads in written.heads {
            var naive = NaiveHPACK()
            for head in heads {
                let fields = naive.decode(HeaderDecoderTests.bytes(head.bytes))
                #expect(fields == head.fields.map { NaiveHPACK.Field($0[0], $0[1]) })
            }
        }
        for item in written.frames {
            let (frames, rest) = NaiveFramer.frames(HeaderDecoderTests.bytes(item.bytes))
            #expect(frames.count == 1 && rest.isEmpty)
            let stream = item.text.split(separator: " ")[1]
            #expect(frames.first?.stream == UInt32(stream))
        }
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
