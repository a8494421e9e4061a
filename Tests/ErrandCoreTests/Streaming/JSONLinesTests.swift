import ErrandHTTP
import ErrandJSON
import Foundation
import Testing

@testable import ErrandCore

struct JSONLinesTests {
    struct Item: Codable, Equatable {
        var id: Int
        var tags: [String]?
    }

    /// Decodes all lines; the messages of errors are among the values.
    private static func values<T: Decodable>(
        _ type: T.Type, _ chunks: [[UInt8]], maximum: Int = 1000,
        decoder: JSONReader = JSONReader()
    ) -> [String] {
        var parser = JSONLinesParser(maximumLineBytes: maximum, decoder: decoder)
        var values: [String] = []
        func read(_ body: () throws(RequestError) -> T?) -> Bool {
            do {
                guard let value = try body() else { return false }
                values.append("\(value)")
                return true
            } catch {
                values.append("\(error.code): \(error.message)")
                return error.code != .bodyTooLarge
            }
        }
        for chunk in chunks {
            chunk.asInput { input in
                while read({ () throws(RequestError) in try parser.next(type, in: &input) }) {}
            }
        }
        _ = read { () throws(RequestError) in try parser.end(type) }
        return values
    }

    private static func values<T: Decodable>(
        _ type: T.Type, inEverySplitOf text: String, decoder: JSONReader = JSONReader(),
        sourceLocation: SourceLocation = #_sourceLocation
    ) -> [String] {
        let bytes = Array(text.utf8)
        let whole = values(type, [bytes], decoder: decoder)
        for chunks in Chunks.all(of: bytes) {
            let split = values(type, chunks, decoder: decoder)
            #expect(split == whole, "\(chunks)", sourceLocation: sourceLocation)
        }
        return whole
    }

    @Test
    func everyLineIsDecodedAndLinesOfWhiteSpaceAreSkipped() {
        let text = "1\n\n 2 \r\n \t\r\n[3\r]\n4"
        let values = Self.values(Tree.self, inEverySplitOf: text)
        #expect(values == ["1.0", "2.0", "[3.0]", "4.0"])
        #expect(Self.values(Int.self, inEverySplitOf: "\n\r\n").isEmpty)
    }

    @Test
    func nullIsAValueOfAnOptionalType() {
        let values = Self.values(Int?.self, inEverySplitOf: "1\nnull\n\nnull")
        #expect(values == ["Optional(1)", "nil", "nil"])
    }

    @Test
    func errorsNameTheLineAndThePathAndTheNextLineIsDecoded() {
        var decoder = JSONReader()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let values = Self.values(
            Item.self,
            inEverySplitOf: """
                {"id":1}

                {"id":"x"}
                {"id":1,"tags":["a",2]}
                {"tags":[]}
                {"id":1,}
                {"id":5}
                """, decoder: decoder)
        let item = "undecodable: Could not decode line"
        #expect(
            values == [
                "\(Item(id: 1))",
                "\(item) 3 as Item: expected Int at $.id, found a string.",
                "\(item) 4 as Item: expected String at $.tags[1], found the number 2.",
                "\(item) 5 as Item: missing key 'id' at $.",
                "\(item) 6 as Item: it is not valid JSON: Unexpected character in the JSON text at "
                    + "column 9 (byte 8).",
                "\(Item(id: 5))",
            ])
    }

    @Test
    func lineAboveTheLimitEndsTheStream() {
        let error =
            "bodyTooLarge: Line 2 of the body exceeds the limit of 4 bytes. Raise maximumLineBytes "
            + "if such lines are expected."
        for chunks in Chunks.all(of: Array("1234\n12345\n1".utf8)) {
            let values = Self.values(Int.self, chunks, maximum: 4)
            #expect(values.first == "1234")
            #expect(values.dropFirst().allSatisfy { $0 == error || $0.contains(error) })
            #expect(values.count >= 2)
        }
    }

    @Test(arguments: 0..<4)
    func valuesEqualThoseOfTheDecoderForEachLine(seed: UInt64) {
        var generator = JSONGenerator(seed: seed)
        for _ in 0..<200 {
            var bytes: [UInt8] = []
            for _ in 0..<generator.number(0...6) {
                var line = Array(generator.value(depth: 2).utf8).filter { $0 != 0x0A }
                if generator.number(0...4) == 0 { generator.mutate(&line, special: "[]{\",\r") }
                bytes += line + Array(generator.one(["\n", "\r\n", "\n\n"], else: "\n").utf8)
            }
            let expected = bytes.split(separator: 0x0A).map { Array($0) }
                .filter { !$0.allSatisfy { [0x20, 0x09, 0x0D].contains($0) } }
                .map { line in
                    (try? JSONReader().decode(Tree.self, from: line)).map { "\($0)" }
                }
            let chunks = Chunks.random(of: bytes, using: &generator.random)
            for chunks in [chunks, [bytes]] {
                let values = Self.values(Tree.self, chunks)
                    .map { $0.hasPrefix("undecodable: Could not decode line") ? nil : $0 }
                #expect(values == expected, "\(String(decoding: bytes, as: UTF8.self))")
            }
        }
    }
}
