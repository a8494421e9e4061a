import ErrandJSON
import Foundation
import TestSupport
import Testing

@Suite struct EncoderTests {
    /// Expects the same bytes from both encoders; keys are sorted for comparison.
    private func compare<T: Encodable>(
        _ value: T, _ setUp: (inout JSONWriter, JSONEncoder) -> Void = { _, _ in }
    ) {
        for pretty in [false, true] {
            var own = JSONWriter()
            let foundation = JSONEncoder()
            setUp(&own, foundation)
            own.outputFormatting.insert(.sortedKeys)
            foundation.outputFormatting.insert(.sortedKeys)
            if pretty {
                own.outputFormatting.insert(.prettyPrinted)
                foundation.outputFormatting.insert(.prettyPrinted)
            }
            let expected = Result { String(decoding: try foundation.encode(value), as: UTF8.self) }
            let found = Result { String(decoding: try own.encode(value), as: UTF8.self) }
            switch (expected, found) {
            case (.success(let left), .success(let right)): #expect(left == right)
            case (.failure(let left), .failure(let right)): #expect(path(left) == path(right))
            default: Issue.record("\(value): \(found), Foundation \(expected)")
            }
        }
    }

    private func path(_ error: any Error) -> [String] {
        guard case EncodingError.invalidValue(_, let context) = error else { return ["\(error)"] }
        return context.codingPath.map(\.stringValue)
    }

    private struct Everything: Codable {
        var bool = true
        var ints: [Int] = [0, -1, 9, 10, 99, 100, 12345, .max, .min]
        var uint = UInt64.max
        var small: Int8 = -128
        var doubles = [
            0.1, 1, -0.0, 1e16, 1e-7, Double.leastNonzeroMagnitude, 1.7976931348623157e308,
            123456.789,
        ]
        var float: Float = 0.1
        var text = "a/\"\\\n\t\u{8}\u{C}\r\u{1}\u{1F}\u{7F}é😀\u{2028}"
        var long = String(repeating: "x\"y", count: 3000)
        var none: Int?
        var nested = ["k": ["a", ""], "": []]
        var date = Date(timeIntervalSince1970: 1_709_210_096.5)
        var data = Data([0, 255, 254, 63])
        var url = URL(string: "https://example.com/a?b=c")
        var decimal = Decimal(string: "1234567890.0123456789")
        var dictionary = [1: "a", 2: "b"]
        var choice = Choice.both(1, label: "x")
        var matrix = [[1.5, 2], [], [-3]]
        var flags = [true, false]
        var bytes: [UInt8] = [1, 2]

        enum Choice: Codable { case both(Int, label: String) }
    }

    @Test func outputMatchesFoundation() {
        compare(Everything())
        compare([Everything(), Everything()])
        compare(5)
        compare("x")
        compare([Int]())
        compare([String: Int]())
        compare(Int?.none)
        compare([Int?.some(1), nil])
        compare(Date(timeIntervalSinceReferenceDate: 1))
    }

    @Test func strategiesMatchFoundation() {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "dd.MM.yyyy"
        let dates: [JSONWriter.DateEncodingStrategy] = [
            .secondsSince1970, .millisecondsSince1970, .iso8601, .formatted(formatter),
            .custom { date, encoder in try "\(date.timeIntervalSince1970)".encode(to: encoder) },
            .custom { _, _ in },
        ]
        for strategy in dates {
            compare(Everything()) { own, foundation in
                own.dateEncodingStrategy = strategy
                foundation.dateEncodingStrategy = strategy
            }
        }
        for strategy: JSONWriter.DataEncodingStrategy in [
            .deferredToData, .custom { _, _ in },
        ] {
            compare(Everything()) { own, foundation in
                own.dataEncodingStrategy = strategy
                foundation.dataEncodingStrategy = strategy
            }
        }
        compare(Everything()) { own, foundation in
            own.outputFormatting = .withoutEscapingSlashes
            foundation.outputFormatting = .withoutEscapingSlashes
        }
        compare(["a": [1, Double.infinity]])
        compare(["a": Float.nan])
        compare(["a": [Double.nan, .infinity, -.infinity]]) { own, foundation in
            let strategy = JSONWriter.NonConformingFloatEncodingStrategy.convertToString(
                positiveInfinity: "+", negativeInfinity: "-", nan: "?")
            own.nonConformingFloatEncodingStrategy = strategy
            foundation.nonConformingFloatEncodingStrategy = strategy
        }
    }

    private struct AnyKey: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }
        init(_ value: String) { stringValue = value }
        init?(stringValue: String) { self.init(stringValue) }
        init?(intValue: Int) { nil }
    }

    private struct Keys: Encodable {
        var keys: [String]

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: AnyKey.self)
            for (number, key) in keys.enumerated() {
                try container.encode(number, forKey: AnyKey(key))
            }
            try container.encode(["keptAsIs": 1], forKey: AnyKey("dictionary"))
        }
    }

    @Test func keyStrategiesMatchFoundation() {
        let keys = [
            "fooBarBaz", "myURLKey", "URL", "aB", "_fooBar_", "foo1Bar", "fooB", "Foo", "fooÄÖ",
            "FOOBar", "foo_Bar", "", "a", "A", "someID",
        ]
        compare(Keys(keys: keys)) { own, foundation in
            own.keyEncodingStrategy = .convertToSnakeCase
            foundation.keyEncodingStrategy = .convertToSnakeCase
        }
        compare(["x": [Keys(keys: keys)]]) { own, foundation in
            let strategy = JSONWriter.KeyEncodingStrategy.custom { path in
                AnyKey(path.map(\.stringValue).joined(separator: "."))
            }
            own.keyEncodingStrategy = strategy
            foundation.keyEncodingStrategy = strategy
        }
    }

    /// Uses several containers at the same time, super encoders late, and repeated keys.
    private struct Interleaved: Encodable {
        enum Keys: CodingKey { case a, b, c, d, late }

        func encode(to encoder: any Encoder) throws {
            var outer = encoder.container(keyedBy: Keys.self)
            var first = outer.nestedContainer(keyedBy: Keys.self, forKey: .a)
            try outer.encode(1, forKey: .b)
            var list = outer.nestedUnkeyedContainer(forKey: .c)
            let late = outer.superEncoder(forKey: .late)
            try first.encode("x", forKey: .a)
            try list.encode(1)
            var inner = list.nestedUnkeyedContainer()
            try list.encode("after")
            try inner.encode(2)
            try inner.encodeNil()
            var single = list.superEncoder().singleValueContainer()
            try single.encode(3)
            var again = encoder.container(keyedBy: Keys.self)
            try again.encode(true, forKey: .d)
            try outer.encode([5, 6], forKey: .b)
            try first.encode(7, forKey: .a)
            try first.encode(8, forKey: .b)
            try [9].encode(to: late)
            _ = outer.superEncoder()
        }
    }

    @Test func interleavedContainersAreWrittenInTheirPositions() throws {
        compare(Interleaved())
        compare([Interleaved(), Interleaved()])
        let text = String(decoding: try JSONWriter().encodeBytes(Interleaved()), as: UTF8.self)
        #expect(
            text == #"{"a":{"a":7,"b":8},"c":[1,[2,null],"after",3],"late":[9],"d":true,"#
                + #""b":[5,6],"super":{}}"#)
    }

    @Test func unorderedCollectionsAreSortedOnRequest() throws {
        struct Value: Encodable, Hashable {
            var z = 1
            var a: [String: Set<Int>] = ["y": [3, 20, 1], "x": []]
        }
        struct Whole: Encodable {
            var map: [String: Value]
            var set: Set<Value> = [Value(z: 2), Value(z: 1)]
            var maps: [[String: Int]] = [["b": 1, "a": 2]]
        }
        var encoder = JSONWriter()
        encoder.sortsUnordered = true
        let keys = (0..<40).map { "k\($0)" }
        let value = #"{"z":1,"a":{"x":[],"y":[1,20,3]}}"#
        let map = keys.sorted().map { "\"\($0)\":\(value)" }.joined(separator: ",")
        let expected =
            #"{"map":{"# + map + #"},"set":["# + value + ","
            + value.replacingOccurrences(of: #""z":1"#, with: #""z":2"#)
            + #"],"maps":[{"a":2,"b":1}]}"#
        for keys in [keys, keys.reversed(), keys.shuffled()] {
            var map: [String: Value] = [:]
            for key in keys { map[key] = Value() }
            let bytes = try encoder.encodeBytes(Whole(map: map))
            #expect(String(decoding: bytes, as: UTF8.self) == expected)
        }
        #expect(try encoder.encodeBytes(Set([3, 1, 2])) == Array("[1,2,3]".utf8))
        #expect(try encoder.encodeBytes(["b": 1, "a": 2]) == Array(#"{"a":2,"b":1}"#.utf8))
        // Keys of dictionaries are data, so strategies do not convert them.
        encoder.keyEncodingStrategy = .convertToSnakeCase
        #expect(try encoder.encodeBytes(["aB": ["cD": 1]]) == Array(#"{"aB":{"cD":1}}"#.utf8))
        // The session is reused by an encoder with other settings.
        #expect(try JSONWriter().encodeBytes(["a": 1]) == Array(#"{"a":1}"#.utf8))
    }

    @Test func repeatedKeysInLargeObjectsAreWrittenOnce() throws {
        let keys = (0..<200).map { "k\($0 % 120)" }
        compare(Keys(keys: keys))
        #expect(try JSONWriter().encodeJSON(Keys(keys: keys)).count == 121)
    }

    @Test func outputOfAFailedEncoderIsRemoved() throws {
        struct Lenient: Encodable {
            enum Keys: CodingKey { case bad, good }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Keys.self)
                try? container.encode([1, Double.nan], forKey: .bad)
                try container.encode(1, forKey: .good)
            }
        }
        #expect(try JSONWriter().encodeBytes(Lenient()) == Array(#"{"good":1}"#.utf8))
    }

    @Test func writingOutOfOrderThrowsInsteadOfTrapping() {
        struct TwoContainers: Encodable {
            func encode(to encoder: any Encoder) throws {
                var container = encoder.unkeyedContainer()
                try container.encode(1)
                var keyed = encoder.container(keyedBy: AnyKey.self)
                try keyed.encode(1, forKey: AnyKey("a"))
            }
        }
        #expect(throws: EncodingError.self) { try JSONWriter().encode(TwoContainers()) }
        struct Twice: Encodable {
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode(1)
                try container.encode(2)
            }
        }
        #expect(throws: EncodingError.self) { try JSONWriter().encode([Twice()]) }
        struct Nothing: Encodable { func encode(to encoder: any Encoder) {} }
        compare(Nothing())
        compare([Nothing()])
    }

    @Test func encodedNumbersDecodeToTheSameValues() throws {
        var random = SeededGenerator(seed: 29)
        for _ in 0..<2000 {
            let doubles = (0..<8).map { _ in Double(bitPattern: random.next()) }.filter(\.isFinite)
            let ints = (0..<8).map { _ in
                Int(truncatingIfNeeded: random.next() >> UInt64(random.below(64)))
            }
            let bytes = try JSONWriter().encodeBytes(doubles)
            #expect(try JSONReader().decode([Double].self, from: bytes) == doubles)
            let others = try JSONWriter().encodeBytes(ints)
            #expect(try JSONReader().decode([Int].self, from: others) == ints)
        }
    }
}
