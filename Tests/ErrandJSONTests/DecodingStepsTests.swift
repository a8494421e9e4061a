import Foundation
import Testing

@testable import ErrandJSON

/// The number of compared members grows linearly with the size of an object.
@Suite(.timeLimit(.minutes(1))) struct DecodingStepsTests {
    /// How a document writes its keys.
    enum Writing: CaseIterable {
        case plain, escaped, reversed, repeated, prefixed

        func members(_ count: Int) -> [(key: String, number: Int)] {
            let numbers = 0..<count
            return switch self {
            case .plain: numbers.map { ("\($0)", $0) }
            case .escaped: numbers.map { (Self.escape("\($0)"), $0) }
            case .reversed: numbers.reversed().map { ("\($0)", $0) }
            case .repeated: (numbers.map { ("\($0 / 2)", $0 / 2) })
            // One key with escapes that is as long as all others together.
            case .prefixed:
                [(String(repeating: #"\u0030"#, count: count), 0)]
                    + numbers.dropFirst().map { ("\($0)", $0) }
            }
        }

        func document(_ count: Int) -> [UInt8] {
            let members = members(count).map { "\"\($0.key)\":\($0.number)" }
            return Array("{\(members.joined(separator: ","))}".utf8)
        }

        private static func escape(_ text: String) -> String {
            text.utf8.map { "\\u00" + String($0, radix: 16) }.joined()
        }
    }

    /// The kinds of containers that look up keys.
    enum Container: CaseIterable {
        case dictionaryFromDecoder, topLevelDictionary, nestedDictionary, integers, convertible
        case allKeys, allKeysTwice, allKeysReversed, members

        func steps(_ document: [UInt8]) throws -> Int {
            let decoder = JSONReader()
            switch self {
            case .dictionaryFromDecoder:
                return try decoder.decode(Counted<[String: Int]>.self, from: document).steps
            case .topLevelDictionary:
                return try decoder.decode(Wrapped<[String: Counted<Int>]>.self, from: document)
                    .steps
            case .nestedDictionary:
                let list = Array("[".utf8) + document + Array("]".utf8)
                return try decoder.decode([Wrapped<[String: Int]>].self, from: list)[0].steps
            case .integers:
                return try decoder.decode(Counted<[Int: Int]>.self, from: document).steps
            case .convertible:
                return try decoder.decode(Counted<[Name: Int]>.self, from: document).steps
            case .allKeys: return try decoder.decode(Counted<Keys>.self, from: document).steps
            case .allKeysTwice:
                return try decoder.decode(Counted<KeysTwice>.self, from: document).steps
            case .allKeysReversed:
                return try decoder.decode(Counted<ReversedKeys>.self, from: document).steps
            case .members: return try decoder.decode(Counted<Numbers>.self, from: document).steps
            }
        }
    }

    /// Counts the members that its own decoder compares while it decodes the value.
    struct Counted<Value: Decodable>: Decodable {
        let steps: Int

        init(from decoder: any Decoder) throws {
            _ = try Value(from: decoder)
            steps = try #require(decoder as? TapeDecoder).cursor.skipped
        }
    }

    /// Decodes the value as a single value, as generic code does.
    struct Wrapped<Value: Decodable>: Decodable {
        let steps: Int

        init(from decoder: any Decoder) throws {
            _ = try decoder.singleValueContainer().decode(Value.self)
            steps = try #require(decoder as? TapeDecoder).cursor.skipped
        }
    }

    struct Name: Hashable, Decodable, CodingKeyRepresentable {
        let text: String
        var codingKey: any CodingKey { PlainKey(text) }

        init?(codingKey: some CodingKey) { text = codingKey.stringValue }
    }

    struct Keys: Decodable {
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: PlainKey.self)
            for key in container.allKeys { _ = try container.decode(Int.self, forKey: key) }
        }
    }

    struct KeysTwice: Decodable {
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: PlainKey.self)
            for key in container.allKeys where container.contains(key) {
                _ = try container.decodeIfPresent(Int.self, forKey: key)
                _ = try? container.nestedUnkeyedContainer(forKey: key)
            }
        }
    }

    struct ReversedKeys: Decodable {
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: PlainKey.self)
            for key in container.allKeys.reversed() {
                _ = try container.decode(Int.self, forKey: key)
            }
        }
    }

    /// Looks up keys without `allKeys`, in the order of the numbers, until one is missing.
    struct Numbers: Decodable {
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: PlainKey.self)
            var number = 1
            while try container.decodeIfPresent(Int.self, forKey: PlainKey("\(number)")) != nil {
                number += 1
            }
        }
    }

    @Test(arguments: Container.allCases, Writing.allCases)
    func stepsAreLinear(container: Container, writing: Writing) throws {
        let count = 2000
        let steps = try container.steps(writing.document(count))
        let twice = try container.steps(writing.document(2 * count))
        #expect(twice < 3 * max(steps, count))
        #expect(twice <= 20 * 2 * count)
    }

    @Test(arguments: Writing.allCases)
    func valuesAreThoseOfFoundation(writing: Writing) throws {
        let data = Data(writing.document(300))
        let expected = try JSONDecoder().decode([String: Int].self, from: data)
        #expect(try JSONReader().decode([String: Int].self, from: data) == expected)
        let integers = try JSONDecoder().decode([Int: Int].self, from: data)
        #expect(try JSONReader().decode([Int: Int].self, from: data) == integers)
    }

    /// A table of many members compares keys as the search in a few members does.
    @Test(arguments: [2, 400])
    func keysAreComparedByBytes(count: Int) throws {
        struct Value: Decodable {
            var composed: Int?
            var decomposed: Int?

            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: PlainKey.self)
                for key in container.allKeys { _ = try container.decode(Int.self, forKey: key) }
                composed = try container.decodeIfPresent(Int.self, forKey: PlainKey("\u{E9}"))
                decomposed = try container.decodeIfPresent(Int.self, forKey: PlainKey("e\u{301}"))
            }
        }
        let others = (0..<count).map { "\"k\($0)\":0" }.joined(separator: ",")
        let text = "{\(others),\"e\u{301}\":1}"
        let value = try JSONReader().decode(Value.self, from: Data(text.utf8))
        #expect(value.composed == nil && value.decomposed == 1)
    }
}
