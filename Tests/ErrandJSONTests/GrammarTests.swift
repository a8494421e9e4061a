import ErrandJSON
import Foundation
import Testing

@Suite struct GrammarTests {
    static let validDocuments = [
        "null", "true", "false", "0", "-0", "1", "-1.5", "1e5", "1E+5", "1e-5", "0.1e1", "\"\"",
        "[]", "{}", " [ ] ", "\t\n\r {} \n", "[1,[2,[3,{}]],{\"a\":{}}]", "[[],[],{}]",
        #"{"":0}"#, #"{"a":1,"a":2}"#, #""\"\\\/\b\f\n\r\t""#, #""\u0000""#, #""\u005C""#,
        #""\uD834\uDd1e""#, "\"\u{7F}\"", "\"\u{2028}\"", "\"é日😀\"", "[-1e0]", "123123e100000",
        "-0.0", "1.000000000000000000000000000000000000000001", "\u{FEFF}[]",
    ]

    static let invalidDocuments = [
        "", " ", "\n", "nul", "nulL", "tru", "True", "falsy", "fals", "NaN", "Infinity",
        "-Infinity",
        "undefined", "+1", "-", "--1", "01", "-01", "1.", ".1", "-.1", "1.e5", "1e", "1e+", "1eE2",
        "0x1", "1 2", "1,", "0e", "1.5.5", "1_000", "\u{FF11}", "'a'", "\"", "\"a", "a\"", "\"\\\"",
        "\"\\x\"", "\"\\u\"", "\"\\u12\"", "\"\\u123g\"", "\"\\ud800\"", "\"\\ud800\\u0041\"",
        "\"\\udc00\"", "\"\\ud800\\ud800\"", "\"\\a\"", "\"\\u{41}\"", "\"\n\"", "\"\u{0}\"",
        "\"\t\"", "\"\u{1F}\"", "[", "]", "{", "}", "[1", "[1,", "[1,]", "[,1]", "[,]", "[1 2]",
        "[1}", "{]", "{\"a\"", "{\"a\":", "{\"a\":}", "{\"a\" 1}", "{\"a\":1,}", "{,}", "{a:1}",
        "{1:1}", "{\"a\":1 \"b\":2}", "{\"a\":1]", "[1]]", "{}}", "[]x", "\u{FEFF}", "[\u{FEFF}]",
        "/**/1", "1//", "\u{A0}1", "[1\u{0}]", "1\u{0}", "\u{0}", "nullnull", "[true false]",
        "{\"a\":1,,\"b\":2}", "[1,,2]", "\"\"\"\"", "{\"a\"::1}", "\u{C}1", "[\u{B}]", "tru\u{0}",
    ]

    @Test(arguments: validDocuments) func acceptsValidDocument(text: String) throws {
        _ = try JSON(parsing: text)
        _ = try JSON(parsing: Array(text.utf8))
        #expect(throws: Never.self) { try JSON(parsing: Data(text.utf8)) }
    }

    @Test(arguments: invalidDocuments) func rejectsInvalidDocument(text: String) {
        #expect(throws: JSONError.self) { try JSON(parsing: text) }
    }

    @Test func errorsHaveKindLineAndColumn() {
        let cases: [(String, JSONError.Kind, line: Int, column: Int)] = [
            ("", .unexpectedEnd, 1, 1), ("[1,\n  x]", .unexpectedByte, 2, 3),
            ("[1\n2]", .unexpectedByte, 2, 1), ("[\"é\", tru]", .unexpectedByte, 1, 10),
            ("{\"a\":01}", .invalidNumber, 1, 6), ("{\"a\":-}", .invalidNumber, 1, 6),
            ("[1.]", .invalidNumber, 1, 2), ("[1", .unexpectedEnd, 1, 3),
            ("{\"a\":1}\n]", .trailingContent, 2, 1), ("[\"a\\x\"]", .invalidEscape, 1, 4),
            ("[\"\\ud800\"]", .loneSurrogate, 1, 3), ("[\"a\tb\"]", .controlCharacter, 1, 4),
            ("{\"a\" 1}", .unexpectedByte, 1, 6), ("{\"a\":1,}", .unexpectedByte, 1, 8),
            ("{\"a\":1 \"b\":2}", .unexpectedByte, 1, 8), ("\"abc", .unexpectedEnd, 1, 5),
            ("[\"\\u12", .unexpectedEnd, 1, 3), ("[1e", .unexpectedEnd, 1, 4),
            ("nul", .unexpectedEnd, 1, 4), ("{1:2}", .unexpectedByte, 1, 2),
            ("[-1 5]", .unexpectedByte, 1, 5),
        ]
        for (text, kind, line, column) in cases {
            let error = #expect(throws: JSONError.self) { try JSON(parsing: text) }
            #expect(error?.kind == kind, "\(text)")
            #expect(
                error?.line == line && error?.column == column,
                "\(text) \(String(describing: error))")
        }
    }

    @Test func everyTruncationIsRejected() throws {
        let text = #"{"a":[1,-2.5e-3,"x\u00e9\ud83d\ude00\n日",true,false,null,{"b":{}}],"cé":[]}"#
        let bytes = Array(text.utf8)
        _ = try JSON(parsing: bytes)
        for length in 0..<bytes.count {
            let error = #expect(throws: JSONError.self) {
                try JSON(parsing: Array(bytes[..<length]))
            }
            #expect((error?.byteOffset ?? .max) <= length)
        }
    }

    @Test func acceptsTheSameUTF8AsTheStandardLibrary() {
        // Every lead byte with the boundary values of continuation bytes.
        let edges: [UInt8] = [0x00, 0x22, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xFF]
        for lead in UInt8(0x80)...0xFF {
            for second in edges {
                for third in edges {
                    for fourth in [0x41, 0x80, 0xBF] as [UInt8] {
                        check([lead, second, third, fourth])
                    }
                }
            }
        }
    }

    private func check(_ sequence: [UInt8]) {
        let hasQuote = sequence.contains(0x22) || sequence.contains(0)
        let isValid = !hasQuote && String(validating: sequence, as: UTF8.self) != nil
        let parsed = try? JSON(parsing: [0x22] + sequence + [0x22])
        if isValid != (parsed != nil) {
            Issue.record("\(sequence) must \(isValid ? "" : "not ")be accepted")
        }
        if isValid, parsed?.string != String(decoding: sequence, as: UTF8.self) {
            Issue.record("\(sequence) changed")
        }
    }

    @Test func errorsAfterLongTextsAreDetected() {
        // The scanners read words of eight bytes, so every offset within a word is tested.
        for length in 0..<40 {
            let filler = String(repeating: "a", count: length)
            for invalid in ["\u{1}", "\n", "\\q", "\\ud800"] {
                #expect(throws: JSONError.self) { try JSON(parsing: "\"\(filler)\(invalid)\"") }
            }
            #expect(throws: JSONError.self) { try JSON(parsing: "\"\(filler)") }
            #expect((try? JSON(parsing: "\"\(filler)é\\n\""))?.string == filler + "é\n")
        }
    }

    @Test func parsesVeryLongStringsAndNumbers() throws {
        let text = String(repeating: "aé\\n😀", count: 300_000)
        #expect(try JSON(parsing: "\"\(text)\"").string?.unicodeScalars.count == 1_200_000)
        let digits = String(repeating: "7", count: 1_000_000)
        let number = try JSON(parsing: digits)
        #expect(number.number == digits)
        #expect(number.int == nil && number.double == nil)
    }

    @Test func agreesWithFoundationOnGeneratedDocuments() throws {
        var generator = DocumentGenerator(seed: 7)
        for _ in 0..<2000 {
            let text = generator.document()
            let json = try JSON(parsing: text)
            #expect(try JSON(parsing: json.description) == json)
            #expect(try JSON(parsing: json.serialized(pretty: true)) == json)
            guard
                let object = try? JSONSerialization.jsonObject(
                    with: Data(text.utf8), options: .fragmentsAllowed)
            else {
                // Foundation rejects numbers below the range of `Double`.
                continue
            }
            try compare(json, object, text)
        }
    }

    private func compare(_ json: JSON, _ object: Any, _ text: String) throws {
        switch json.kind {
        case .object:
            let dictionary = try #require(object as? [String: Any])
            #expect(Set(json.keys) == Set(dictionary.keys))
            for (key, value) in json.object ?? [] where json.keys.filter({ $0 == key }).count == 1 {
                try compare(value, try #require(dictionary[key]), text)
            }
        case .array:
            let array = try #require(object as? [Any])
            #expect(array.count == json.count)
            for (item, other) in zip(json, array) { try compare(item, other, text) }
        case .string: #expect(json.string == object as? String)
        case .number:
            // The last digits of `JSONSerialization` are not exact; `NumberTests` compares exactly.
            let other = try #require(object as? NSNumber).doubleValue
            let own = try #require(json.double)
            #expect(abs(own - other) <= abs(own) * 1e-14, "\(json)")
        case .bool: #expect(json.bool == object as? Bool)
        case .null: #expect(object is NSNull)
        case .absent: Issue.record("absent in \(text)")
        }
    }
}
