import ErrandJSON
import Foundation
import Testing

/// Documents of the public JSON parser test suites that are not in `GrammarTests`.
@Suite struct ParsingSuiteTests {
    private static let mustAccept = [
        #"["\u0060\u012a\u12AB"]"#, #"["\uDBFF\uDFFF"]"#, #"["\uD801\udc37"]"#, #"["\uFFFF"]"#,
        #"["\ud83d\ude39\ud83d\udc8d"]"#, #"["\"\\\/\b\f\n\r\t"]"#, #"["\\u0000"]"#, #"["\\a"]"#,
        #"["\u0012"]"#, #"["\uDBFF\uDFFE"]"#, #"["\u00A0"]"#, #"["\u2028"]"#, #"["\u0022"]"#,
        #"["new\u000Aline"]"#, #"["a/*b*/c/*d//e"]"#, "[\"\u{FFFD}\"]", "[\"\u{10FFFF}\"]",
        "[\"\u{2029}\"]", "[\"\u{7F}\"]", "[\"⍂㈴⍂\"]", "[\"π\"]", "[\"€𝄞\"]",
        "[123e65]", "[0e+1]", "[0e1]", "[ 4]", "[-0]", "[-123]", "[-1]", "[1E22]", "[1E-2]",
        "[1E+2]", "[123e45]", "[123.456e78]", "[1e-2]", "[1e+2]", "[123]", "[123.456789]",
        "[-0.00000000000000000000000000000000000000000000000000000000000000000000000000001]",
        "[20e1]", "[null, 1, \"1\", {}]", "[1\n]", "[1,null,null,null,2]", " [1]", "[2] ",
        "[false]",
        #"{"asd":"sdf", "dfg":"fgh"}"#, #"{"a":"b","a":"b"}"#, #"{"foo\u0000bar": 42}"#,
        #"{ "min": -1.0e+28, "max": 1.0e+28 }"#, #"{"x":[{"id": "xxx"}], "id": "xxx"}"#,
        "{\n\"a\": \"b\"\n}", "false", "42", "-0.1", "null", "\"asd\"", "true", "[\"a\"]\n",
        "[true]",
    ]

    /// Documents for which the behaviour is implementation-defined; accepted as in `JSONDecoder`.
    private static let mayAccept = [
        "[123123e100000]", "[-1e+9999]", "[1e-9999]", "[0.4e00669999999999999999999999999999969]",
        "[100000000000000000000]", "[-123123123123123123123123123123]", "\u{FEFF}{}",
    ]

    private static let mustReject = [
        "[1 true]", #"["": 1]"#, #"[""],"#, "[,1]", "[1,,2]", #"["x",,]"#, #"["x"]]"#, #"["",]"#,
        "[\"x\"", "[x", "[3[4]]", "[1:2]", "[,]", "[-]", "[   , \"\"]", "[\"a\",\n4\n,1,", "[1,]",
        "[1,,]", "[\"\u{B}a\"\\f]", "[*]", "[\"\"", "[1,\n1\n,1", "[{}", "[fals]", "[nul]", "[tru]",
        "[++1234]", "[+1]", "[+Inf]", "[-01]", "[-1.0.]", "[-2.]", "[-NaN]", "[.-1]", "[.2e-3]",
        "[0.1.2]", "[0.3e+]", "[0.3e]", "[0.e1]", "[0E+]", "[0E]", "[0e+]", "[0e]", "[1.0e+]",
        "[1.0e-]", "[1.0e]", "[1 000.0]", "[1eE2]", "[2.e+3]", "[2.e-3]", "[2.e3]", "[9.e+]",
        "[Inf]",
        "[NaN]", "[１]", "[1+2]", "[0x1]", "[0x42]", "[Infinity]", "[0e+-1]", "[-123.123foo]",
        "[-Infinity]", "[-foo]", "[- 1]", "[-012]", "[-.123]", "[-1x]", "[1ea]", "[1.]", "[.123]",
        "[1.2a-3]", "[1.8011670033376514H-308]", "[012]", #"["x", truth]"#, "{[: \"x\"}\n",
        #"{"x", null}"#, #"{"x"::"b"}"#, "{🇨🇭}", #"{"a":"a" 123}"#, "{key: 'value'}", #"{"a" b}"#,
        #"{:"b"}"#, #"{"a" "b"}"#, #"{"a":"#, #"{"a""#, "{1:1}", "{9999E9999:1}",
        "{null:null,null:null}", #"{"id":0,,,,,}"#, "{'a':0}", #"{"id":0,}"#, #"{"a":"b"}/**/"#,
        #"{"a":"b"}/**//"#, #"{"a":"b"}//"#, #"{"a":"b"}/"#, #"{"a":"b",,"c":"d"}"#, #"{a: "b"}"#,
        #"{"a":"a"#, #"{ "foo" : "bar", "a" }"#, #"{"a":"b"}#"#, " ", #"["\uD800\"]"#,
        #"["\uD800\u"]"#, #"["\uD800\u1"]"#, #"["\uD800\u1x"]"#, "[é]", #"["\x00"]"#, #"["\\\"]"#,
        "[\"\\\t\"]", "[\"\\🌀\"]", #"["\"]"#, #"["\u00A"]"#, #"["\uD834\uDd"]"#,
        #"["\uD800\uD800\x"]"#, #"["\a"]"#, #"["\uqqqq"]"#, #"[\u0020"asd"]"#, #"[\n]"#, "\"",
        "['single quote']", "abc", "[\"\\", "[\"new\nline\"]", "[\"\t\"]", #""\UA66D""#, "\"\"x",
        "[\u{2060}]", "<.>", "[<null>]", "[1]x", "[1]]", #"["asd]"#, "aå", "[True]", "1]",
        #"{"x": true,"#,
        "[][]", "]", "[", "{}}", #"{"":"#, #"{"a": true} "x""#, "{\"a\":/*comment*/\"b\"}", "2@",
        "{,", "{\"a", "{'a'", "[\"\\{[\"\\{[\"\\{", "{[", "[{", "é", "*", #"{"a":"b"}#{}"#,
        "[\\u000A\"\"]", "[1", #"[ false, nul"#, #"[ true, fals"#, #"{"asd":"asd""#, "\u{C}[]",
        "\u{2060}", "[\u{C}]", #"["\u{1}"]"#,
    ]

    @Test(arguments: mustAccept) func acceptsValidDocuments(text: String) throws {
        let json = try JSON(parsing: text)
        #expect(try JSON(parsing: json.serialized()) == json)
    }

    @Test(arguments: mustReject) func rejectsInvalidDocuments(text: String) {
        #expect(throws: JSONError.self) { try JSON(parsing: text) }
    }

    @Test(arguments: mayAccept) func acceptsImplementationDefinedDocuments(text: String) throws {
        _ = try JSON(parsing: text)
    }

    /// Invalid UTF-8, tested in a string and on its own.
    private static let invalid: [[UInt8]] = [
        [0xE5], [0xE9], [0xFF], [0xC0, 0xAF], [0xE0, 0x80, 0xAF], [0xF0, 0x80, 0x80, 0xAF],
        [0xFC, 0x83, 0xBF, 0xBF, 0xBF, 0xBF], [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF], [0x81],
        [0xF4, 0xBF, 0xBF, 0xBF], [0xF4, 0x90, 0x80, 0x80], [0xE6, 0x97, 0xA5, 0xD1, 0x88, 0xFA],
        [0xC3], [0xE2, 0x82], [0xF0, 0x9F, 0x98], [0xC2, 0x00], [0xFE],
        [0xF8, 0x88, 0x80, 0x80, 0x80],
    ]

    @Test(arguments: invalid) func rejectsInvalidUTF8(bytes: [UInt8]) {
        let quote = [UInt8(ascii: "\"")]
        for before in 0..<9 {
            let filler = Array(repeating: UInt8(ascii: "a"), count: before)
            for text in [
                quote + filler + bytes + quote, quote + filler + bytes,
                Array("{".utf8) + quote + filler + bytes + quote + Array(":0}".utf8),
                Array("[".utf8) + bytes + Array("]".utf8),
            ] {
                #expect(throws: JSONError.self) { try JSON(parsing: text) }
                #expect(throws: DecodingError.self) {
                    try JSONReader().decode([String].self, from: text)
                }
            }
        }
    }

    @Test func acceptsNoncharacters() throws {
        for bytes in [[0xEF, 0xBF, 0xBF], [0xEF, 0xB7, 0x90], [0xF0, 0x9F, 0xBF, 0xBE]] as [[UInt8]]
        {
            let json = try JSON(parsing: [0x22] + bytes + [0x22])
            #expect(json.string.map { Array($0.utf8) } == bytes)
        }
    }

    @Test func rejectsEncodingsOtherThanUTF8() {
        let texts: [[UInt8]] = [
            [0xFF, 0xFE], [0xFF, 0xFE, 0x5B, 0, 0x5D, 0], [0xFE, 0xFF, 0, 0x5B, 0, 0x5D],
            [0x5B, 0, 0x5D, 0], [0, 0x5B, 0, 0x5D], [0xEF, 0xBB, 0x5B, 0x5D], [0xEF, 0xBB, 0xBF],
        ]
        for text in texts { #expect(throws: JSONError.self) { try JSON(parsing: text) } }
    }

    @Test func rejectsDeeplyNestedUnclosedContainers() {
        let texts = ["[", "[{\"\":", "{\"a\":", "[[],"].map {
            String(repeating: $0, count: 100_000)
        }
        for text in texts {
            #expect(throws: JSONError.self) { try JSON(parsing: text) }
            let options = JSON.Options(maximumDepth: .max)
            #expect(throws: JSONError.self) { try JSON(parsing: text, options: options) }
        }
    }
}
