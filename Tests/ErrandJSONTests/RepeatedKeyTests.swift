import ErrandJSON
import Foundation
import TestSupport
import Testing

/// The first value of a repeated key is used, whatever the order of requests.
@Suite struct RepeatedKeyTests {
    private struct Ordered: Decodable, Equatable {
        var a: Int
        var b: Int
    }

    private struct Reversed: Decodable, Equatable {
        var b: Int
        var a: Int
    }

    /// Requests each key twice: its presence, then its value.
    private struct PresenceChecking: Decodable, Equatable {
        var a: Int?

        enum CodingKeys: CodingKey { case a }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            if container.contains(.a), try !container.decodeNil(forKey: .a) {
                a = try container.decode(Int.self, forKey: .a)
            }
        }
    }

    private static let texts = [
        #"{"a":1,"b":2,"a":3}"#, #"{"a":1,"a":3,"b":2}"#, #"{"a":1,"b":2,"b":4,"a":3}"#,
        #"{"\u0061":1,"a":3,"b":2}"#, #"{"x":0,"a":1,"y":0,"a":3,"b":2,"a":4}"#,
        #"{"b":2,"a":1,"a":"no number","b":"nor this"}"#,
    ]

    @Test(arguments: texts) func decodersUseTheFirstValueAsFoundationDoes(text: String) throws {
        let data = Data(text.utf8)
        #expect(try JSONReader().decode(Ordered.self, from: data) == Ordered(a: 1, b: 2))
        #expect(try JSONReader().decode(Reversed.self, from: data) == Reversed(b: 2, a: 1))
        #expect(try JSONReader().decode(PresenceChecking.self, from: data).a == 1)
        #expect(try JSONDecoder().decode(Reversed.self, from: data) == Reversed(b: 2, a: 1))
    }

    @Test(arguments: texts) func shapesValidateTheFirstValue(text: String) throws {
        let json = try JSON(parsing: text)
        #expect(json["a"].int == 1 && json["b"].int == 2)
        #expect((["b": .range(2...2), "a": .range(1...1)] as JSONShape).matches(json))
        #expect((["a": .range(1...1), "b": .range(2...2)] as JSONShape).matches(json))
        let fault = (["b": .int, "a": .string] as JSONShape).firstFault(in: json)
        #expect(fault?.path == "$['a']")
    }

    @Test func firstValueIsUsedInLargeObjects() throws {
        var random = SeededGenerator(seed: 31)
        for _ in 0..<200 {
            let members = (0..<random.below(90)).map { (random.below(60), $0) }
            let text = members.map { "\"k\($0.0)\":\($0.1)" }.joined(separator: ",")
            let json = try JSON(parsing: "{\(text)}")
            let first = Dictionary(members, uniquingKeysWith: { first, _ in first })
            let requested = (0..<60).shuffled(using: &random)
            for key in requested { #expect(json["k\(key)"].int == first[key]) }
            #expect(try JSONReader().decode(SixtyKeys.self, from: json).values == first)
        }
    }

    /// Members that a search has skipped are found in order, and the first of repeated ones is.
    @Test func skippedMembersAreFoundInOrder() throws {
        var random = SeededGenerator(seed: 5)
        for _ in 0..<3000 {
            let members = (0..<random.below(9)).map { (random.below(6), $0) }
            var requested = Array(0..<6)
            for _ in 0..<random.below(3) {
                requested.insert(requested.remove(at: random.below(6)), at: random.below(6))
            }
            if random.below(2) == 0 { requested += [requested[random.below(6)]] }
            let order = requested.map(String.init).joined()
            let text = members.map { ",\"k\($0.0)\":\($0.1)" }.joined()
            let first = Dictionary(members, uniquingKeysWith: { first, _ in first })
            let data = Data("{\"order\":\"\(order)\"\(text)}".utf8)
            let found = try JSONReader().decode(RequestedKeys.self, from: data).values
            #expect(found == first, "\(order) \(text)")
        }
    }

    /// Requests the keys that the member `order` names.
    private struct RequestedKeys: Decodable {
        var values: [Int: Int] = [:]

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: SixtyKeys.Key.self)
            for digit in try container.decode(String.self, forKey: .init(stringValue: "order")) {
                let key = SixtyKeys.Key(stringValue: "k\(digit)")
                guard let number = digit.wholeNumberValue else { continue }
                values[number] = try container.decodeIfPresent(Int.self, forKey: key)
            }
        }
    }

    /// Requests sixty keys in a fixed pseudo-random order.
    private struct SixtyKeys: Decodable {
        var values: [Int: Int] = [:]

        struct Key: CodingKey {
            var stringValue: String
            var intValue: Int? { nil }
            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            for number in (0..<60).map({ $0 * 37 % 60 }) {
                let key = Key(stringValue: "k\(number)")
                if container.contains(key) {
                    values[number] = try container.decode(Int.self, forKey: key)
                }
            }
        }
    }
}
