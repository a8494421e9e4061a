import HTTPTypes
import Testing

@testable import ErrandCurl

/// Header blocks are decoded as RFC 7541 requires.
struct HeaderDecoderTests {
    /// The bytes of hexadecimal text.
    static func bytes(_ text: String) -> [UInt8] {
        let digits = text.filter { $0 != " " }
        return stride(from: 0, to: digits.count, by: 2).map { offset in
            let start = digits.index(digits.startIndex, offsetBy: offset)
            return UInt8(digits[start..<digits.index(start, offsetBy: 2)], radix: 16) ?? 0
        }
    }

    /// The fields of a block, as texts; the code of the error if it is malformed.
    static func decode(
        _ block: [UInt8], _ decoder: inout HeaderDecoder, limit: Int = 1 << 20
    ) -> [String] {
        block.withUnsafeBytes { block in
            var fields: [String] = []
            do throws(SessionFault) {
                _ = try decoder.decode(block, limit: limit) { entry in
                    let (name, value) = entry.bytes
                    fields.append(NaiveHPACK.Field(name, value).description)
                }
            } catch {
                fields.append(error.code.description)
            }
            return fields
        }
    }

    private static func table(_ decoder: HeaderDecoder) -> [String] {
        decoder.entries.map { NaiveHPACK.Field($0.bytes.name, $0.bytes.value).description }
    }

    struct Example: Sendable, CustomTestStringConvertible {
        let section: String
        /// The bytes before the first block, which set the size of the table.
        var start = ""
        let blocks: [String]
        let fields: [[String]]
        let table: [String]
        let size: Int
        var testDescription: String { section }
    }

    private static let requests = [
        [":method: GET", ":scheme: http", ":path: /", ":authority: www.example.com"],
        [
            ":method: GET", ":scheme: http", ":path: /", ":authority: www.example.com",
            "cache-control: no-cache",
        ],
        [
            ":method: GET", ":scheme: https", ":path: /index.html",
            ":authority: www.example.com", "custom-key: custom-value",
        ],
    ]
    private static let requestTable = [
        "custom-key: custom-value", "cache-control: no-cache", ":authority: www.example.com",
    ]
    private static let date21 = "date: Mon, 21 Oct 2013 20:13:21 GMT"
    private static let date22 = "date: Mon, 21 Oct 2013 20:13:22 GMT"
    private static let location = "location: https://www.example.com"
    private static let cookie =
        "set-cookie: foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1"
    private static let responses = [
        [":status: 302", "cache-control: private", date21, location],
        [":status: 307", "cache-control: private", date21, location],
        [
            ":status: 200", "cache-control: private", date22, location, "content-encoding: gzip",
            cookie,
        ],
    ]
    private static let responseTable = [cookie, "content-encoding: gzip", date22]

    /// RFC 7541 Appendix C.
    static let examples = [
        Example(
            section: "C.2.1",
            blocks: ["400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572"],
            fields: [["custom-key: custom-header"]], table: ["custom-key: custom-header"],
            size: 55),
        Example(
            section: "C.2.2", blocks: ["040c 2f73 616d 706c 652f 7061 7468"],
            fields: [[":path: /sample/path"]], table: [], size: 0),
        Example(
            section: "C.2.3", blocks: ["1008 7061 7373 776f 7264 0673 6563 7265 74"],
            fields: [["password: secret"]], table: [], size: 0),
        Example(
            section: "C.2.4", blocks: ["82"], fields: [[":method: GET"]], table: [], size: 0),
        Example(
            section: "C.3",
            blocks: [
                "8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d",
                "8286 84be 5808 6e6f 2d63 6163 6865",
                "8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65",
            ], fields: requests, table: requestTable, size: 164),
        Example(
            section: "C.4",
            blocks: [
                "8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff", "8286 84be 5886 a8eb 1064 9cbf",
                "8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf",
            ], fields: requests, table: requestTable, size: 164),
        Example(
            section: "C.5", start: "3fe1 01",
            blocks: [
                """
                4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 \
                303a 3133 3a32 3120 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 \
                6f6d
                """,
                "4803 3330 37c1 c0bf",
                """
                88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0 \
                5a04 677a 6970 7738 666f 6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851 \
                5745 4f49 553b 206d 6178 2d61 6765 3d33 3630 303b 2076 6572 7369 6f6e 3d31
                """,
            ], fields: responses, table: responseTable, size: 215),
        Example(
            section: "C.6", start: "3fe1 01",
            blocks: [
                """
                4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b \
                ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3
                """,
                "4883 640e ffc1 c0bf",
                """
                88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad \
                94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 \
                65c0 03ed 4ee5 b106 3d50 07
                """,
            ], fields: responses, table: responseTable, size: 215),
    ]

    @Test(arguments: examples)
    func appendixC(_ example: Example) {
        var decoder = HeaderDecoder()
        var naive = NaiveHPACK()
        for (index, (block, fields)) in zip(example.blocks, example.fields).enumerated() {
            let bytes = Self.bytes((index == 0 ? example.start : "") + block)
            #expect(Self.decode(bytes, &decoder) == fields)
            #expect(naive.decode(bytes)?.map(\.description) == fields)
        }
        #expect(Self.table(decoder) == example.table)
        #expect(decoder.size == example.size)
        #expect(naive.table.map(\.description) == example.table)
    }

    /// RFC 7541 Appendix C.1.
    @Test(arguments: [(10, 5, "0a"), (1337, 5, "1f9a 0a"), (42, 8, "2a")])
    func integers(_ value: Int, _ prefix: Int, _ text: String) throws {
        let output = TextBuffer(capacity: 8)
        HeaderEncoder.write(value, prefix: prefix, flags: 0, into: output)
        #expect(Array(output.contents) == Self.bytes(text))
        var position = 0
        #expect(
            try HeaderDecoder.integer(in: output.contents, at: &position, prefix: prefix) == value)
        #expect(position == output.count)
    }

    @Test func integersOfAllSizes() throws {
        let values = [
            0, 1, 30, 31, 32, 126, 127, 128, 254, 255, 16_383, 16_511, 1 << 21, 1 << 28 - 1,
        ]
        for prefix in 4...7 {
            for value in values {
                let output = TextBuffer(capacity: 8)
                HeaderEncoder.write(value, prefix: prefix, flags: 0, into: output)
                #expect(Array(output.contents) == Wire.integer(value, prefix: prefix))
                var position = 0
                let read = try HeaderDecoder.integer(
                    in: output.contents, at: &position, prefix: prefix)
                #expect(read == value)
            }
        }
    }

    private static let compression = "COMPRESSION_ERROR"

    /// Malformed blocks (RFC 7541 §5 to §6), after a block that inserts one field.
    @Test(arguments: [
        ("§6.1 index 0", "80"), ("§2.3.3 an index beyond the table", "bf"),
        ("§2.3.3 an index far beyond the table", "ff ff ff ff 01"),
        ("§6.2.1 a name beyond the table", "7f 00 01 61"),
        ("§5.1 an integer of too many bytes", "ff ff ff ff ff 01"),
        ("§5.1 an integer with leading zeros of too many bytes", "ff 80 80 80 80 00"),
        ("§5.1 an integer without its end", "ff ff"),
        ("§5.1 an integer without any further byte", "ff"),
        ("§5.2 a string without its length", "40"), ("§5.2 a value without its length", "40 01 61"),
        ("§5.2 a string without its end", "40 02 61"),
        ("§5.2 a value without its end", "40 01 61 05 62"),
        ("§5.2 a Huffman string without its end", "40 01 61 85 62"),
        ("§5.2 padding of 8 bits", "40 01 61 82 1f ff"),
        ("§5.2 padding of zeros", "40 01 61 81 18"),
        ("§5.2 padding of one zero", "40 01 61 81 1e"),
        ("§5.2 EOS", "40 01 61 84 ff ff ff ff"),
        ("§5.2 EOS after a symbol", "40 01 61 85 1f ff ff ff ff"),
        ("§6.3 a table larger than SETTINGS_HEADER_TABLE_SIZE", "3f e2 1f"),
        ("§4.2 a size update after a field", "82 20"),
        ("§4.2 an index after the table was emptied", "20 be"),
    ])
    func malformed(_ rule: String, _ block: String) {
        var decoder = HeaderDecoder()
        var naive = NaiveHPACK()
        let first: [UInt8] = [0x40, 1, 0x61, 1, 0x62]
        #expect(Self.decode(first, &decoder) == ["a: b"])
        #expect(naive.decode(first) != nil)
        #expect(Self.decode(Self.bytes(block), &decoder).last == Self.compression)
        #expect(naive.decode(Self.bytes(block)) == nil)
    }

    /// RFC 7541 §5.1: zeros after an integer do not change it, and a peer could send them without end.
    @Test func longInteger() {
        var decoder = HeaderDecoder()
        let text = [UInt8](repeating: 0x78, count: 127)
        #expect(
            Self.decode([0, 1, 0x61, 0x7F, 0x80, 0x80, 0x80, 0x00] + text, &decoder) == [
                "a: " + String(repeating: "x", count: 127)
            ])
        #expect(
            Self.decode([0, 1, 0x61, 0x7F, 0x80, 0x80, 0x80, 0x80, 0x00] + text, &decoder) == [
                Self.compression
            ])
    }

    @Test func sizeUpdates() {
        var decoder = HeaderDecoder()
        let inserts: [UInt8] = [0x40, 1, 0x61, 1, 0x62, 0x40, 1, 0x63, 1, 0x64]
        #expect(Self.decode(inserts, &decoder) == ["a: b", "c: d"])
        #expect(decoder.size == 68)
        // 34 leaves the newer entry, 0 none; two updates may follow each other.
        #expect(Self.decode([0x3F, 3, 0xBE], &decoder) == ["c: d"])
        #expect(decoder.size == 34)
        #expect(Self.decode([0x20, 0x3F, 0xE1, 0x1F, 0x82], &decoder) == [":method: GET"])
        #expect(decoder.size == 0)
    }

    /// RFC 7541 §4.4: an entry that is larger than the table empties it, and is a field nevertheless.
    @Test func largeEntry() {
        var decoder = HeaderDecoder()
        _ = Self.decode([0x40, 1, 0x61, 1, 0x62], &decoder)
        let value = String(repeating: "x", count: 4_064)
        let block: [UInt8] = [0x40] + Wire.text("l") + Wire.text(value)
        #expect(Self.decode(block, &decoder) == ["l: \(value)"])
        #expect(decoder.size == 0)
        let fitting: [UInt8] = [0x40] + Wire.text("l") + Wire.text(String(value.dropLast()))
        _ = Self.decode(fitting, &decoder)
        #expect(decoder.size == 4_096)
    }

    /// RFC 7541 §4.4: the name may be that of an entry which the insertion evicts.
    @Test func nameOfAnEvictedEntry() {
        var decoder = HeaderDecoder()
        _ = Self.decode(
            [0x40, 1, 0x61] + Wire.text(String(repeating: "x", count: 4_000)), &decoder)
        #expect(
            Self.decode([0x7E, 100] + [UInt8](repeating: 0x79, count: 100), &decoder) == [
                "a: \(String(repeating: "y", count: 100))"
            ])
        #expect(decoder.size == 133)
    }

    @Test func limit() {
        var decoder = HeaderDecoder()
        let block: [UInt8] = [0x40, 1, 0x61, 1, 0x62, 0x40, 1, 0x63, 1, 0x64, 0xBE]
        #expect(Self.decode(block, &decoder, limit: 34) == ["a: b"])
        // The table has both.
        #expect(Self.table(decoder) == ["c: d", "a: b"])
    }

    // MARK: - Caches

    /// The section of a block, from a decoder that may know it.
    private static func section(
        _ block: [UInt8], _ decoder: inout HeaderDecoder, limit: Int = 1 << 20
    ) -> FieldSection? {
        block.withUnsafeBytes { try? decoder.section(in: $0, limit: limit) }
    }

    /// The same bytes have another meaning when the table has changed.
    @Test func repeatedBlock() {
        var decoder = HeaderDecoder()
        _ = Self.section([0x88, 0x40, 1, 0x61, 1, 0x62], &decoder)
        let block: [UInt8] = [0x88, 0xBE]
        #expect(Self.section(block, &decoder)?.head.fields.map(\.description) == ["a: b"])
        #expect(Self.section(block, &decoder)?.head.fields.map(\.description) == ["a: b"])
        _ = Self.section([0x88, 0x40, 1, 0x61, 1, 0x63], &decoder)
        #expect(Self.section(block, &decoder)?.head.fields.map(\.description) == ["a: c"])
        _ = Self.section([0x20, 0x3F, 0xE1, 0x1F, 0x88], &decoder)
        #expect(Self.section(block, &decoder) == nil)
    }

    /// The same literal has another name when the table has changed.
    @Test func repeatedLiteral() {
        var decoder = HeaderDecoder()
        let literal: [UInt8] = [0x0F, 47, 1, 0x76]
        #expect(Self.decode([0x40, 1, 0x61, 1, 0x62] + literal, &decoder) == ["a: b", "a: v"])
        #expect(Self.decode([0x40, 1, 0x63, 1, 0x64] + literal, &decoder) == ["c: d", "c: v"])
    }

    /// A block that inserts entries inserts them each time.
    @Test func repeatedInsertions() {
        var decoder = HeaderDecoder()
        let block: [UInt8] = [0x88, 0x40, 1, 0x61, 1, 0x62, 0x40, 1, 0x63, 1, 0x64]
        for count in 1...5 {
            let section = Self.section(block, &decoder)
            #expect(section?.head.fields.map(\.description) == ["a: b", "c: d"])
            #expect(decoder.size == 68 * count)
            #expect(Self.table(decoder).prefix(2) == ["c: d", "a: b"])
        }
    }

    /// An entry that is larger than the table empties it each time.
    @Test func repeatedLargeEntry() {
        var decoder = HeaderDecoder()
        let small: [UInt8] = [0x88, 0x40, 1, 0x61, 1, 0x62]
        let large: [UInt8] =
            [0x88, 0x40] + Wire.text("l") + Wire.text(String(repeating: "x", count: 99))
        _ = Self.section([0x3F, 69, 0x88], &decoder)
        for _ in 0..<3 {
            _ = Self.section(small, &decoder)
            #expect(decoder.size == 34)
            _ = Self.section(large, &decoder)
            #expect(decoder.size == 0)
        }
    }

    /// A section that is known is checked against the limit of the next response.
    @Test func repeatedBlockAndLimit() {
        var decoder = HeaderDecoder()
        let block: [UInt8] = [0x88, 0x00, 1, 0x61, 1, 0x62]
        #expect(Self.section(block, &decoder, limit: 50)?.isTooLarge == true)
        #expect(Self.section(block, &decoder, limit: 100)?.isTooLarge == false)
        #expect(Self.section(block, &decoder, limit: 50)?.isTooLarge == true)
        #expect(Self.section(block, &decoder, limit: 100)?.head.fields.count == 1)
    }

    /// Secrets, and fields that the sender marks as sensitive, stay in no cache.
    @Test(arguments: [
        [0x88, 0x0F, 40, 1, 0x61], [0x88, 0x0F, 31, 1, 0x61], [0x88, 0x10, 1, 0x61, 1, 0x62],
    ])
    func secrets(_ block: [UInt8]) {
        var decoder = HeaderDecoder()
        #expect(Self.section(block, &decoder)?.head.fields.count == 1)
        #expect(decoder.cachedCount == 0)
        _ = Self.section([0x88, 0x00, 1, 0x61, 1, 0x62], &decoder)
        #expect(decoder.cachedCount == 2)
    }
}
