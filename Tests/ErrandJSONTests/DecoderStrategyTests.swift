import ErrandJSON
import Foundation
import Testing

@Suite struct DecoderStrategyTests {
    private struct Dated: Codable, Equatable {
        var date: Date
        var data: Data?
        var floats: [Double]?
    }

    /// Expects the same value from both decoders, or an error from both.
    private func compare<T: Decodable & Equatable>(
        _ type: T.Type, _ text: String, _ setUp: (inout JSONReader, JSONDecoder) -> Void
    ) {
        var own = JSONReader()
        let foundation = JSONDecoder()
        setUp(&own, foundation)
        let data = Data(text.utf8)
        let expected = try? foundation.decode(type, from: data)
        let found = try? own.decode(type, from: data)
        #expect(found == expected, "\(text)")
    }

    @Test(arguments: [
        #"{"date":0}"#, #"{"date":1e9}"#, #"{"date":-1.5}"#, #"{"date":"2024-02-29T12:34:56Z"}"#,
        #"{"date":"2024-02-30T12:34:56Z"}"#, #"{"date":"2024-02-29T12:34:56+02:00"}"#,
        #"{"date":"2024-02-29"}"#, #"{"date":null}"#, #"{"date":"29.02.2024"}"#, #"{"date":true}"#,
    ])
    func dateStrategiesMatchFoundation(text: String) {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "dd.MM.yyyy"
        let strategies: [JSONReader.DateDecodingStrategy] = [
            .deferredToDate, .secondsSince1970, .millisecondsSince1970, .iso8601,
            .formatted(formatter),
            .custom {
                try Date(timeIntervalSince1970: $0.singleValueContainer().decode(Double.self))
            },
        ]
        for strategy in strategies {
            compare(Dated.self, text) { own, foundation in
                own.dateDecodingStrategy = strategy
                foundation.dateDecodingStrategy = strategy
            }
        }
    }

    @Test(arguments: [
        #"{"date":0,"data":"aGVsbG8="}"#, #"{"date":0,"data":"a"}"#, #"{"date":0,"data":[1,2]}"#,
        #"{"date":0,"data":[256]}"#, #"{"date":0,"data":5}"#, #"{"date":0,"data":""}"#,
    ])
    func dataStrategiesMatchFoundation(text: String) {
        let strategies: [JSONReader.DataDecodingStrategy] = [
            .base64, .deferredToData, .custom { _ in Data([1]) },
        ]
        for strategy in strategies {
            compare(Dated.self, text) { own, foundation in
                own.dataDecodingStrategy = strategy
                foundation.dataDecodingStrategy = strategy
            }
        }
    }

    @Test func nonConformingFloatStrategiesMatchFoundation() {
        let strategy = JSONReader.NonConformingFloatDecodingStrategy.convertFromString(
            positiveInfinity: "+", negativeInfinity: "-", nan: "?")
        for text in [#"[1,"+","-"]"#, #"["x"]"#, "[null]"] {
            compare([Double].self, text) { own, foundation in
                own.nonConformingFloatDecodingStrategy = strategy
                foundation.nonConformingFloatDecodingStrategy = strategy
            }
            compare([Float].self, text) { _, _ in }
        }
        var own = JSONReader()
        own.nonConformingFloatDecodingStrategy = strategy
        #expect((try? own.decode([Double].self, from: Data(#"["?"]"#.utf8)))?.first?.isNaN == true)
    }

    private struct Camel: Codable, Equatable {
        var fooBar: Int?
        var myUrlKey: Int?
        var _private: Int?
        var trailing_: Int?
        var plain: [String: Inner]?
        var nested: [Inner]?

        struct Inner: Codable, Equatable { var someValue: Int }
    }

    @Test func snakeCaseKeysMatchFoundation() {
        let texts = [
            #"{"foo_bar":1,"my_url_key":2,"_private":3,"trailing_":4}"#, #"{"fooBar":1}"#,
            #"{"foo_Bar":1,"FOO_BAR":2}"#, #"{"plain":{"a_key":{"some_value":1}}}"#,
            #"{"nested":[{"some_value":1},{"some_value":2}]}"#, #"{"nested":[{"somevalue":1}]}"#,
            #"{"__foo__bar__":1,"___":2}"#,
        ]
        for text in texts {
            compare(Camel.self, text) { own, foundation in
                own.keyDecodingStrategy = .convertFromSnakeCase
                foundation.keyDecodingStrategy = .convertFromSnakeCase
            }
        }
        compare([String: Int].self, #"{"a_key":1}"#) { own, foundation in
            own.keyDecodingStrategy = .convertFromSnakeCase
            foundation.keyDecodingStrategy = .convertFromSnakeCase
        }
    }

    private struct Upper: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    @Test func customKeyStrategyReceivesTheCodingPath() throws {
        let strategy = JSONReader.KeyDecodingStrategy.custom { path in
            Upper(stringValue: (path.last?.stringValue ?? "").lowercased())
        }
        compare([Camel.Inner].self, #"[{"SOMEVALUE":1}]"#) { own, foundation in
            own.keyDecodingStrategy = strategy
            foundation.keyDecodingStrategy = strategy
        }
        var own = JSONReader()
        own.keyDecodingStrategy = .custom { path in
            Upper(stringValue: path.map(\.stringValue).joined(separator: "."))
        }
        struct Outer: Decodable {
            var a: [Leaf]
            struct Leaf: Decodable {
                var value: Int
                enum CodingKeys: String, CodingKey { case value = "a.Index 0.v" }
            }
        }
        #expect(try own.decode(Outer.self, from: Data(#"{"a":[{"v":5}]}"#.utf8)).a[0].value == 5)
    }

    @Test func nestedTypesReceiveUserInfoAndCodingPath() throws {
        let infoKey = try #require(CodingUserInfoKey(rawValue: "k"))
        struct Seen: Decodable {
            var info: String
            var path: [String]

            init(from decoder: any Decoder) throws {
                info = decoder.userInfo.values.first as? String ?? ""
                path = decoder.codingPath.map(\.stringValue)
            }
        }
        var decoder = JSONReader()
        decoder.userInfo[infoKey] = "v"
        let seen = try decoder.decode([String: [Seen]].self, from: Data(#"{"x":[{},{}]}"#.utf8))
        #expect(seen["x"]?[1].info == "v")
        #expect(seen["x"]?.map(\.path) == [["x", "Index 0"], ["x", "Index 1"]])
    }

    private class Base: Decodable {
        var a = 0
    }

    private final class Derived: Base {
        var b = 0

        enum CodingKeys: CodingKey { case b, base }

        required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            b = try container.decode(Int.self, forKey: .b)
            try super.init(from: container.superDecoder(forKey: .base))
        }
    }

    @Test func superDecodersAndNestedContainers() throws {
        let data = Data(#"{"b":2,"base":{"a":1}}"#.utf8)
        let derived = try JSONReader().decode(Derived.self, from: data)
        #expect(derived.a == 1 && derived.b == 2)
        let error = #expect(throws: DecodingError.self) {
            try JSONReader().decode(Derived.self, from: Data(#"{"b":2}"#.utf8))
        }
        let expected = #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(Derived.self, from: Data(#"{"b":2}"#.utf8))
        }
        #expect(kind(error) == kind(expected))

        struct Manual: Decodable {
            var sum = 0

            enum Keys: CodingKey { case list, object, x }

            init(from decoder: any Decoder) throws {
                let outer = try decoder.container(keyedBy: Keys.self)
                var list = try outer.nestedUnkeyedContainer(forKey: .list)
                let object = try outer.nestedContainer(keyedBy: Keys.self, forKey: .object)
                while !list.isAtEnd {
                    if try list.decodeNil() { continue }
                    var inner = try list.nestedUnkeyedContainer()
                    sum += try inner.decode(Int.self) + (inner.count ?? 0)
                }
                sum += try object.decode(Int.self, forKey: .x)
                #expect(object.codingPath.map(\.stringValue) == ["object"])
                #expect(throws: DecodingError.self) { try list.decode(Int.self) }
            }
        }
        let manual = Data(#"{"list":[[1],null,[2,3]],"object":{"x":10}}"#.utf8)
        #expect(try JSONReader().decode(Manual.self, from: manual).sum == 16)
    }

    private func kind(_ error: DecodingError?) -> String {
        switch error {
        case .valueNotFound(_, let context): "null \(context.codingPath.map(\.stringValue))"
        case .keyNotFound(let key, _): "missing \(key.stringValue)"
        case .typeMismatch(_, let context): "mismatch \(context.codingPath.map(\.stringValue))"
        case .dataCorrupted: "corrupted"
        default: "none"
        }
    }

    @Test func retainedDecodersRemainUsable() throws {
        struct Kept: Decodable {
            var decoder: any Decoder
            init(from decoder: any Decoder) { self.decoder = decoder }
        }
        let kept = try JSONReader().decode([Kept].self, from: Data("[1,2,3]".utf8))
        #expect(try kept.map { try Int(from: $0.decoder) } == [1, 2, 3])
        #expect(kept.map { $0.decoder.codingPath.last?.intValue } == [0, 1, 2])
    }

    @Test func largeObjectsAreSearchedInAnyOrder() throws {
        let keys = (0..<5000).map { "key\($0)" }
        let text = "{" + keys.map { "\"\($0)\":1" }.joined(separator: ",") + "}"
        struct Reversed: Decodable {
            var sum = 0
            struct Key: CodingKey {
                var stringValue: String
                var intValue: Int? { nil }
                init(stringValue: String) { self.stringValue = stringValue }
                init?(intValue: Int) { nil }
            }
            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: Key.self)
                for number in (0..<6000).reversed() {
                    let key = Key(stringValue: "key\(number)")
                    sum += try container.decodeIfPresent(Int.self, forKey: key) ?? 0
                }
                #expect(container.allKeys.count == 5000)
            }
        }
        #expect(try JSONReader().decode(Reversed.self, from: Array(text.utf8)).sum == 5000)
    }

    @Test func syntaxErrorsAreUnderlyingErrorsOfDecodingErrors() throws {
        let error = #expect(throws: DecodingError.self) {
            try JSONReader().decode(Int.self, from: Data("[1,".utf8))
        }
        guard case .dataCorrupted(let context) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect((context.underlyingError as? JSONError)?.byteOffset == 3)
        #expect(throws: DecodingError.self) {
            try JSONReader().decode(Int.self, from: .absent)
        }
    }
}
