import ErrandJSON
import Foundation
import Testing

/// Texts of every length around 8, 15 and 16 bytes, where the representation changes.
@Suite struct TextLengthTests {
    private static let alphabets = ["abcdefghij", "é", "aé", "日本", "a😀", "x日"]

    /// Texts of at most `count` bytes, cut between characters.
    private static func texts(_ count: Int) -> [String] {
        alphabets.map { alphabet in
            var text = ""
            var next = alphabet.startIndex
            while text.utf8.count + alphabet[next].utf8.count <= count {
                text.append(alphabet[next])
                next = alphabet.index(after: next)
                if next == alphabet.endIndex { next = alphabet.startIndex }
            }
            return text
        }
    }

    private func escaped(_ text: String) -> String {
        text.utf16.map { "\\u" + String(format: "%04X", $0) }.joined()
    }

    @Test(arguments: 0...40) func stringsEqualThoseOfTheStandardLibrary(count: Int) throws {
        for text in TextLengthTests.texts(count) {
            for written in [text, escaped(text)] {
                let json = try JSON(parsing: "[\"\(written)\"]")
                let read = try #require(json[0].string)
                #expect(read == text && read.hashValue == text.hashValue)
                #expect(Array(read.utf8) == Array(text.utf8))
                #expect(read.count == text.count && read.uppercased() == text.uppercased())
                #expect(read + "!" == text + "!" && Array(read) == Array(text))
                #expect(try JSONReader().decode([String].self, from: json) == [text])
            }
        }
    }

    @Test(arguments: 0...40) func keysOfEveryLengthAreFound(count: Int) throws {
        for key in TextLengthTests.texts(count) {
            // Keys that differ at either end, of the same length or one byte longer.
            let others = [
                "\(key)x", key.isEmpty ? "y" : "#\(key.dropFirst())", "\(key.dropLast())~",
            ]
            let members = (others + [key]).filter { $0 != key } + [key]
            for last in [key, escaped(key)] {
                let texts = members.dropLast() + [last]
                let numbered = zip(texts, 0...).map { "\"\($0)\":\($1)" }
                let text = "{" + numbered.joined(separator: ",") + "}"
                let json = try JSON(parsing: text)
                for (number, name) in members.enumerated() {
                    let first = members.firstIndex(of: name) ?? number
                    #expect(json[name].int == first, "\(name) in \(text)")
                    #expect(JSONShape([(name, .range(first...first))]).matches(json))
                }
                #expect(!json["\(key)no"].exists)
                let inOrder = Set(members).count == members.count
                let closed = JSONShape.closed(JSONShape(members.map { ($0, JSONShape.int) }))
                #expect(closed.matches(json) == inOrder)
                let decoded = try JSONReader().decode(Named.self, from: text, named: key)
                #expect(decoded == members.firstIndex(of: key))
            }
        }
    }

    @Test(arguments: 1...20) func integersOfEveryLengthAreExact(count: Int) throws {
        for digits in ["1234567890", "9", "1000000000", "90807"] {
            let text = String(String(repeating: digits, count: 20).prefix(count))
            for number in [text, "-" + text] {
                let json = try JSON(parsing: "[\(number),\(number)]")
                #expect(json[0].int == Int(number) && json[1].int64 == Int64(number))
                #expect(json[0].uint64 == UInt64(number))
                #expect(json[1].integer(Int8.self) == Int8(number))
                #expect(json[0].integer(Int128.self) == Int128(number))
                #expect(try JSON(parsing: number).int == Int(number))
            }
        }
    }

    @Test func everyEscapeIsResolved() throws {
        let escapes: [(String, String)] = [
            ("\\\"", "\""), ("\\\\", "\\"), ("\\/", "/"), ("\\b", "\u{8}"), ("\\f", "\u{C}"),
            ("\\n", "\n"), ("\\r", "\r"), ("\\t", "\t"), ("\\u0000", "\0"), ("\\uABCD", "\u{ABCD}"),
            ("\\uabcd", "\u{ABCD}"), ("\\u00e9", "é"), ("\\uD83D\\uDE00", "😀"),
            ("\\udbff\\udfff", "\u{10FFFF}"), ("\\u007f", "\u{7F}"), ("\\u07FF", "\u{7FF}"),
        ]
        for (written, expected) in escapes {
            for count in 0...17 {
                let around = String(repeating: "a", count: count)
                let json = try JSON(parsing: "\"\(around)\(written)\(written)\(around)\"")
                #expect(json.string == around + expected + expected + around)
            }
        }
        for unit in 0..<0xD800 where unit % 7 == 0 {
            let written = String(format: unit % 2 == 0 ? "%04x" : "%04X", unit)
            let scalar = try #require(UnicodeScalar(unit))
            #expect(try JSON(parsing: "\"\\u\(written)\"").string == String(Character(scalar)))
        }
    }
}

/// Decodes a member whose name is set at run time.
private struct Named: Decodable {
    var value: Int

    struct Key: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    static let name = CodingUserInfoKey(rawValue: "name")

    init(from decoder: any Decoder) throws {
        let name = Named.name.flatMap { decoder.userInfo[$0] as? String } ?? ""
        let container = try decoder.container(keyedBy: Key.self)
        value = try container.decode(Int.self, forKey: Key(stringValue: name))
    }
}

extension JSONReader {
    fileprivate func decode(_ type: Named.Type, from text: String, named name: String) throws -> Int
    {
        var decoder = self
        if let key = Named.name { decoder.userInfo[key] = name }
        return try decoder.decode(type, from: Data(text.utf8)).value
    }
}
