import ErrandHTTP
import ErrandJSON
import Testing

@testable import ErrandCore

struct JSONElementScannerTests {
    /// The elements of a document, and the error that ended it.
    struct Elements: Equatable {
        var elements: [String] = []
        var error: String?

        init(
            _ chunks: [[UInt8]], _ path: JSONElementPath, maximum: Int = 1000,
            maximumDepth: Int = 512
        ) {
            var scanner = JSONElementScanner(
                path: path, maximumElementBytes: maximum, maximumDepth: maximumDepth)
            do {
                for chunk in chunks {
                    try chunk.asInput { input throws(RequestError) in
                        while let element = try scanner.next(
                            in: &input, { String(decoding: $0, as: UTF8.self) })
                        {
                            elements.append(element)
                        }
                        #expect(input.isEmpty)
                    }
                }
                try scanner.end()
                #expect(scanner.elementCount == elements.count)
            } catch let fault {
                error = "\(fault.code): \(fault.message)"
            }
        }

        static func inEverySplit(
            _ text: String, _ path: String, maximum: Int = 1000,
            sourceLocation: SourceLocation = #_sourceLocation
        ) throws -> Elements {
            let (bytes, path) = (Array(text.utf8), try JSONElementPath(path))
            let whole = Elements([bytes], path, maximum: maximum)
            for chunks in Chunks.all(of: bytes) {
                let split = Elements(chunks, path, maximum: maximum)
                #expect(split == whole, "\(chunks)", sourceLocation: sourceLocation)
            }
            return whole
        }
    }

    private static let valid: [(text: String, path: String, elements: [String])] = [
        ("[]", "$[*]", []), (" [ ] ", "$[*]", []), ("\u{FEFF}[1]", "$[*]", ["1"]),
        (
            "[1, -2.5e3 ,true,null ,\"a\\\"]\", [ 1,[2] ], {\"a\":[3]} ]\n", "$[*]",
            ["1", "-2.5e3", "true", "null", "\"a\\\"]\"", "[ 1,[2] ]", "{\"a\":[3]}"]
        ),
        (
            "{\"items\":[{\"id\":1},{\"id\":2}],\"next\":null}", "$.items[*]",
            ["{\"id\":1}", "{\"id\":2}"]
        ),
        ("{\"items\":[]}", "$.items[*]", []),
        // Equal names elsewhere do not count.
        (
            "{\"b\":[0],\"x\":{\"a\":{\"b\":[1]}},\"a\":{\"a\":[2],\"b\":[3,4],\"c\":[5]},\"b\":[6]}",
            "$.a.b[*]", ["3", "4"]
        ),
        ("[{\"a\":[1]}]", "$[*]", ["{\"a\":[1]}"]),
        ("{\"a\":{\"a\":{\"a\":[1]}}}", "$.a.a.a[*]", ["1"]),
        ("{\"x\":\"a\",\"y\":[\"a\",[1]],\"a\":[2]}", "$.a[*]", ["2"]),
        // Names are compared after their escapes are decoded.
        ("{\"it\\u0065ms\":[1],\"items \":[2],\"item\":[3],\"Items\":[4]}", "$.items[*]", ["1"]),
        ("{\"\\ud83d\\ude00\":[1],\"\\ud83d\":[2]}", "$['😀'][*]", ["1"]),
        ("{\"\\\"\\\\\\/\\b\":[1]}", "$['\"\\\\/\u{8}'][*]", ["1"]),
        ("{\"\\ud83d\":[2],\"\":[1]}", "$[''][*]", ["1"]),
        ("{\"a\\ud83d\":[2],\"a\\udc00\":[3],\"a\":[1]}", "$.a[*]", ["1"]),
        ("{\"\":[1]}", "$[''][*]", ["1"]), ("{\"é\":[1]}", "$.é[*]", ["1"]),
        ("{\"e\u{301}\":[2],\"é\":[1]}", "$['é'][*]", ["1"]),
        // The elements of repeated names.
        ("{\"a\":[1],\"a\":[2]}", "$.a[*]", ["1", "2"]),
        ("{\"a\":{\"b\":[1]},\"a\":{},\"a\":{\"b\":[2]}}", "$.a.b[*]", ["1", "2"]),
    ]

    @Test(arguments: valid)
    func elementsOfThePathAreFoundInAnySplit(text: String, path: String, elements: [String]) throws
    {
        let found = try Elements.inEverySplit(text, path)
        #expect(found.elements == elements)
        #expect(found.error == nil)
    }

    private static let invalid: [(text: String, path: String, count: Int, error: String)] = [
        ("", "$[*]", 0, "The body ends at byte 0 in its JSON, which is incomplete."),
        ("[1,2", "$[*]", 1, "The body ends at byte 4 in element 2 of $[*], which is incomplete."),
        ("[1,{\"a\":", "$[*]", 1, "ends at byte 8 in element 2 of $[*], which is incomplete."),
        ("[1,", "$[*]", 1, "The body ends at byte 3 in its JSON, which is incomplete."),
        ("{\"a\":[1]", "$.a[*]", 1, "The body ends at byte 8 in its JSON, which is incomplete."),
        ("{\"a\":\"x", "$.b[*]", 0, "The body ends at byte 7 in its JSON, which is incomplete."),
        ("[1]]", "$[*]", 1, "Unexpected text after the JSON value at byte 3."),
        ("[1}", "$[*]", 1, "Unexpected character in the JSON text at byte 2."),
        ("[1,{\"a\":]}]", "$[*]", 1, "in the JSON text at byte 8 in element 2 of $[*]."),
        ("[1,02]", "$[*]", 2, "Unexpected character in the JSON text at byte 4."),
        ("{\"x\":[}],\"a\":[1]}", "$.a[*]", 0, "Unexpected character in the JSON text at byte 6."),
        ("{\"a\":[1],\"x\":tru}", "$.a[*]", 1, "Unexpected character in the JSON text at byte 16."),
        ("[\"a\u{1}\"]", "$[*]", 0, "Unescaped control character in a JSON string at byte 3"),
        ("{}", "$.items[*]", 0, "ends at byte 2, has no array at $.items."),
        ("{\"a\":{\"c\":[1]}}\n", "$.a.b[*]", 0, "ends at byte 16, has no array at $.a.b."),
        (
            "{\"a\":[1]}", "$[*]", 0,
            "has an object at $ (byte 0), but $[*] needs an array there."
        ),
        ("[1]", "$.a[*]", 0, "has an array at $ (byte 0), but $.a[*] needs an object there."),
        (
            "{\"a\": null}", "$.a[*]", 0,
            "has true, false or null at $.a (byte 6), but $.a[*] needs an array there."
        ),
        (
            "{\"a\":\"x\"}", "$.a.b[*]", 0,
            "has a string at $.a (byte 5), but $.a.b[*] needs an object there."
        ),
        ("12", "$[*]", 0, "has a number at $ (byte 0), but $[*] needs an array there."),
    ]

    @Test(arguments: invalid)
    func malformedDocumentIsAnErrorWithItsPosition(
        text: String, path: String, count: Int, error: String
    ) throws {
        let found = try Elements.inEverySplit(text, path)
        #expect(found.elements.count == count)
        #expect(found.error?.hasPrefix("undecodable: ") == true)
        #expect(found.error?.hasSuffix(error) == true || found.error?.contains(error) == true)
    }

    @Test
    func elementAboveTheLimitIsAnErrorAfterTheElementsBeforeIt() throws {
        let error =
            "bodyTooLarge: Element 2 of $.a[*] exceeds the limit of 4 bytes. Raise "
            + "maximumElementBytes if such elements are expected."
        for element in ["12345", "\"abc\"", "[1,2]", "[    ", "{\"abcdefgh", "\"abcd\u{1}\""] {
            let found = try Elements.inEverySplit("{\"a\":[1234,\(element)", "$.a[*]", maximum: 4)
            #expect(found.elements == ["1234"])
            #expect(found.error == error, "\(element)")
        }
        // Skipped values do not count.
        let text = "{\"x\":\"123456789\",\"123456789\":[123456789],\"a\":[1234]}"
        #expect(try Elements.inEverySplit(text, "$.a[*]", maximum: 4).elements == ["1234"])
    }

    @Test
    func depthIsLimited() throws {
        let (path, text) = (try JSONElementPath("$[*]"), Array("[[[1]]]".utf8))
        #expect(Elements([text], path, maximumDepth: 3) == Elements([text], path))
        let error = Elements([text], path, maximumDepth: 2).error
        #expect(error?.contains("nested too deeply") == true)
        #expect(error?.contains("at byte 2 in element 1 of $[*]") == true)
    }

    @Test
    func errorRepeats() throws {
        var scanner = JSONElementScanner(path: try JSONElementPath("$[*]"))
        var errors: [String] = []
        for text in ["[1}", "[1]"] {
            let error = #expect(throws: RequestError.self) {
                try Array(text.utf8).asInput { input throws(RequestError) in
                    while try scanner.next(in: &input, { $0.count }) != nil {}
                }
            }
            errors.append(error?.message ?? "")
        }
        #expect(errors[0] == errors[1])
        #expect(throws: RequestError.self) { try scanner.end() }
    }

    @Test
    func decodingErrorsNameTheElementAndThePathAndTheNextIsDecoded() throws {
        var scanner = JSONElementScanner(path: try JSONElementPath("$.a[*]"))
        var results: [String] = []
        for chunk in ["{\"a\":[[1],[2", ",\"x\"],[\"", "\\uDC00\"],", "[3]]}"] {
            Array(chunk.utf8).asInput { input in
                while true {
                    do throws(RequestError) {
                        guard let value = try scanner.next([Int].self, in: &input) else { return }
                        results.append("\(value)")
                    } catch {
                        results.append(error.message)
                    }
                }
            }
        }
        try scanner.end()
        #expect(results.count == 4)
        #expect(results.first == "[1]")
        #expect(results.last == "[3]")
        let message =
            "Could not decode element 2 of $.a[*] as Array<Int>: expected Int at $[1], found a string."
        #expect(results[1] == message)
        #expect(results[2].contains("element 3 of $.a[*]"))
    }

    @Test(arguments: 0..<8)
    func elementsEqualThoseOfTheParsedDocument(seed: UInt64) throws {
        var generator = JSONGenerator(seed: seed)
        let paths = try ["$[*]", "$.a[*]", "$.items[*]", "$.a.b[*]", "$.items.a[*]", "$[''][*]"]
            .map { try JSONElementPath($0) }
        var (total, failures) = (0, 0)
        for round in 0..<600 {
            let path = generator.one(paths, else: paths[0])
            var text = generator.space() + Self.document(path.names[...], &generator)
            text += generator.space()
            var bytes = Array(text.utf8)
            if round % 4 == 0 { generator.mutate(&bytes, special: "[]{},:\"1\n") }
            bytes = JSONGrammar.withoutSurrogates(bytes)
            let expected = Self.naive(bytes, path.names)
            total += expected?.count ?? 0
            failures += expected == nil ? 1 : 0
            let random = Chunks.random(of: bytes, using: &generator.random)
            for chunks in [[bytes], bytes.map { [$0] }, random] {
                let found = Elements(chunks, path, maximum: .max)
                let elements = try found.error == nil ? found.elements.map(Self.tree) : nil
                #expect(elements == expected, "\(path) \(String(decoding: bytes, as: UTF8.self))")
            }
        }
        #expect(total > 300)
        #expect(failures > 50)
    }

    /// A document in which the path usually leads to an array.
    private static func document(
        _ names: ArraySlice<String>, _ generator: inout JSONGenerator
    ) -> String {
        if generator.number(0...14) == 0 { return generator.value() }
        guard let name = names.first else {
            let items = (0..<generator.number(0...4)).map { _ in
                generator.space() + generator.value(depth: 2) + generator.space()
            }
            return "[\(items.joined(separator: ","))]"
        }
        var members = (0..<generator.number(0...2)).map { index in
            "\"other\(index)\":" + generator.value(depth: 2)
        }
        members.append(
            "\"\(name)\"" + generator.space() + ":" + document(names.dropFirst(), &generator))
        return "{" + members.shuffled(using: &generator.random).joined(separator: ",") + "}"
    }

    private static func tree(_ text: String) throws -> Tree {
        try JSONReader().decode(Tree.self, from: Array(text.utf8))
    }

    /// A second implementation, which parses the document as a whole; nil if it fails.
    private static func naive(_ bytes: [UInt8], _ names: [String]) -> [Tree]? {
        guard let root = try? JSONReader().decode(Tree.self, from: bytes) else { return nil }
        var value = root
        for name in names {
            guard case .object(let members) = value, let next = members[name] else { return nil }
            value = next
        }
        guard case .array(let items) = value else { return nil }
        return items
    }
}
