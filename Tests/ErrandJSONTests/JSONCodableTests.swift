import ErrandJSON
import Foundation
import Testing

/// `JSON` as a part of types that are decoded and encoded.
@Suite(.timeLimit(.minutes(1))) struct JSONCodableTests {
    private struct Event: Codable, Equatable {
        var id: Int
        var payload: JSON
        var extra: JSON?
        var list: [JSON]
        var byName: [String: JSON]
    }

    private static let text =
        #"{"id":1,"payload":{"b_c":[1.50,-0,18446744073709551615,9007199254740993,"é\n",null,true],"a":{}},"#
        + #""list":[1,[],"x"],"byName":{"some_key":null}}"#

    @Test func bothDecodersDecodeParts() throws {
        let data = Data(Self.text.utf8)
        let fast = try JSONReader().decode(Event.self, from: data)
        #expect(fast.payload == (try JSON(parsing: Self.text))["payload"])
        #expect(fast.payload["b_c"][0].number == "1.50")
        #expect(fast.payload.keys == ["b_c", "a"])
        #expect(
            fast.extra == nil && fast.list.count == 3 && fast.byName["some_key"]?.isNull == true)
        let foundation = try JSONDecoder().decode(Event.self, from: data)
        #expect(foundation == fast)
        #expect(foundation.payload["b_c"][3].int == 9_007_199_254_740_993)
        #expect(foundation.payload["b_c"][2].uint64 == .max)
    }

    @Test func keyStrategiesDoNotChangeTheKeysOfValues() throws {
        let data = Data(Self.text.utf8)
        var decoder = JSONReader()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        #expect(try decoder.decode(Event.self, from: data).payload.keys == ["b_c", "a"])
        let foundation = JSONDecoder()
        foundation.keyDecodingStrategy = .convertFromSnakeCase
        let event = try foundation.decode(Event.self, from: data)
        #expect(event.payload["b_c"].exists)
        var encoder = JSONWriter()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        let json = try encoder.encodeJSON(["myKey": JSON(parsing: #"{"aB":1}"#)])
        #expect(json["myKey"]["aB"].int == 1)
        let standard = JSONEncoder()
        standard.keyEncodingStrategy = .convertToSnakeCase
        let again = try JSON(parsing: standard.encode(event))
        #expect(again["payload"]["b_c"].exists)
    }

    @Test func bothEncodersEncodeParts() throws {
        let event = try JSONReader().decode(Event.self, from: Data(Self.text.utf8))
        var encoder = JSONWriter()
        encoder.outputFormatting = .withoutEscapingSlashes
        #expect(String(decoding: try encoder.encode(event), as: UTF8.self) == Self.text)
        let foundation = try JSON(parsing: JSONEncoder().encode(event))
        #expect(foundation == (try JSON(parsing: Self.text)))
        #expect(try JSON(parsing: JSONWriter().encode([JSON.absent])) == [nil])
        #expect(throws: EncodingError.self) {
            try JSONEncoder().encode([JSON(parsing: "[1e999]")])
        }
    }

    @Test func scalarsAtTheTopLevel() throws {
        for text in ["1", "-2.5", "\"a\"", "null", "true", "[]", "{}", "[1,{\"a\":[null]}]"] {
            let json = try JSON(parsing: text)
            #expect(try JSONReader().decode(JSON.self, from: Data(text.utf8)) == json)
            #expect(try JSONDecoder().decode(JSON.self, from: Data(text.utf8)) == json)
            #expect(try JSONWriter().encodeJSON(json) == json)
            #expect(try JSON(parsing: JSONEncoder().encode(json)) == json)
        }
        let list = try PropertyListEncoder().encode(["a": ["b": 1]])
        let json = try PropertyListDecoder().decode(JSON.self, from: list)
        #expect(json == ["a": ["b": 1]])
    }

    @Test func deepValuesAreErrors() throws {
        let deep = String(repeating: "[", count: 400) + String(repeating: "]", count: 400)
        #expect(try JSONDecoder().decode(JSON.self, from: Data(deep.utf8)) == JSON(parsing: deep))
    }

    @Test func valueOutlivesItsDecoder() throws {
        var values: [JSON] = []
        for number in 0..<50 {
            let text = #"[{"v":{"n":\#(number)}}]"#
            struct Item: Decodable { var v: JSON }
            values += try JSONReader().decode([Item].self, from: Data(text.utf8)).map(\.v)
        }
        for number in 0..<50 { #expect(values[number]["n"].int == number) }
    }
}
