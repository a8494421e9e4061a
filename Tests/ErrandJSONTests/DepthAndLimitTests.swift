import ErrandJSON
import Testing

@Suite struct DepthAndLimitTests {
    private func nested(_ depth: Int, _ open: String = "[", _ close: String = "]") -> String {
        String(repeating: open, count: depth) + (open.hasSuffix(":") ? "1" : "")
            + String(repeating: close, count: depth)
    }

    @Test func maximumDepthIsEnforced() throws {
        _ = try JSON(parsing: nested(512))
        let error = #expect(throws: JSONError.self) { try JSON(parsing: nested(513)) }
        #expect(error?.kind == .tooDeep)
        #expect(error?.byteOffset == 512)
        let three = JSON.Options(maximumDepth: 3)
        _ = try JSON(parsing: nested(3, "{\"a\":", "}"), options: three)
        #expect(throws: JSONError.self) {
            try JSON(parsing: nested(4, "{\"a\":", "}"), options: three)
        }
        #expect(throws: JSONError.self) {
            try JSON(parsing: "[]", options: JSON.Options(maximumDepth: 0))
        }
        _ = try JSON(parsing: "1", options: JSON.Options(maximumDepth: 0))
    }

    @Test func deeplyNestedDocumentsNeverOverflowTheStack() throws {
        for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("[{\"a\":", "}]")] {
            let text = nested(100_000, open, close)
            let rejected = #expect(throws: JSONError.self) { try JSON(parsing: text) }
            #expect(rejected?.kind == .tooDeep)
            #expect(throws: JSONError.self) {
                try JSON(parsing: String(repeating: open, count: 100_000))
            }
            let options = JSON.Options(maximumDepth: 1_000_000)
            let json = try JSON(parsing: text, options: options)
            #expect(json == (try JSON(parsing: text, options: options)))
            #expect(json.description == text)
            #expect(json.serialized(pretty: false, sortedKeys: true) == Array(text.utf8))
            #expect(JSONShape.any.matches(json))
            #expect(!(["a": [["b": .int]]] as JSONShape).matches(json))
            #expect([json, 1].count == 2)
            #expect(json.foundationObject as? [Any] != nil || open.hasPrefix("{"))
        }
    }

    @Test func decodersRejectValuesThatAreTooDeep() throws {
        struct Node: Decodable {
            var inner: [Node]

            init(from decoder: any Decoder) throws {
                inner = try decoder.singleValueContainer().decode([Node].self)
            }
        }
        let text = nested(2000)
        #expect(throws: DecodingError.self) {
            try JSONReader().decode(Node.self, from: Array(text.utf8))
        }
        let json = try JSON(parsing: text, options: .init(maximumDepth: .max))
        #expect(throws: DecodingError.self) { try JSONReader().decode(Node.self, from: json) }
        _ = try JSONReader().decode(Node.self, from: Array(nested(100).utf8))
    }

    @Test func encoderRejectsValuesThatAreTooDeep() throws {
        struct Endless: Encodable {
            enum Key: CodingKey { case next }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Key.self)
                try container.encode([self], forKey: .next)
            }
        }
        struct Wrapper: Encodable {
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode(self)
            }
        }
        struct Chain: Encodable {
            var count: Int
            enum Key: CodingKey { case next }
            func encode(to encoder: any Encoder) throws {
                guard count > 0 else { return }
                var container = encoder.container(keyedBy: Key.self)
                try container.encode(Chain(count: count - 1), forKey: .next)
            }
        }
        #expect(throws: EncodingError.self) { try JSONWriter().encode(Endless()) }
        #expect(throws: EncodingError.self) { try JSONWriter().encode([Wrapper()]) }
        #expect(throws: EncodingError.self) { try JSONWriter().encode(Chain(count: 600)) }
        #expect(try JSONWriter().encode(Chain(count: 500)).count == 500 * 9 + 2)
    }

    @Test func conversionFromFoundationRejectsValuesThatAreTooDeep() throws {
        var object: Any = [Any]()
        for _ in 0..<600 { object = [object] }
        let error = #expect(throws: JSONError.self) { try JSON(foundation: object) }
        #expect(error?.kind == .tooDeep)
    }

    @Test func maximumBytesIsEnforced() throws {
        let options = JSON.Options(maximumBytes: 4)
        _ = try JSON(parsing: "[12]", options: options)
        let error = #expect(throws: JSONError.self) { try JSON(parsing: "[123]", options: options) }
        #expect(error?.kind == .tooLarge)
        #expect(error?.description.contains("maximumBytes") == true)
    }

    @Test func repeatedKeysAreKeptOrRejected() throws {
        let text = #"{"a":1,"b":{"c":1,"\u0063":2},"a":3}"#
        let json = try JSON(parsing: text)
        #expect(json.keys == ["a", "b", "a"])
        #expect(json["a"].int == 1)
        #expect(json.description == #"{"a":1,"b":{"c":1,"c":2},"a":3}"#)
        let options = JSON.Options(duplicateKeys: .reject)
        let error = #expect(throws: JSONError.self) { try JSON(parsing: text, options: options) }
        #expect(error?.kind == .duplicateKey)
        _ = try JSON(parsing: #"{"a":{"a":1},"b":[{"a":1},{"a":2}]}"#, options: options)
    }
}
