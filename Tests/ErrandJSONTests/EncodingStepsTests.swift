import Foundation
import Testing

@testable import ErrandJSON

/// The number of members that are indexed or moved grows linearly with the number of encoded keys.
@Suite(.timeLimit(.minutes(1))) struct EncodingStepsTests {
    /// The order in which keys are encoded, some of them again.
    enum Writing: CaseIterable {
        case once, twice, eachTwice, oneOften, fewOften, reversed

        func keys(_ count: Int) -> [Int] {
            let numbers = 0..<count
            return switch self {
            case .once: Array(numbers)
            case .twice: Array(0..<count / 2) + Array(0..<count / 2)
            case .eachTwice: numbers.map { $0 / 2 }
            case .oneOften: Array(0..<count / 2) + Array(repeating: 7, count: count / 2)
            case .fewOften: numbers.map { $0 % 50 }
            case .reversed: Array(0..<count / 2) + (0..<count / 2).reversed()
            }
        }
    }

    struct Members: Encodable {
        var keys: [Int]

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: PlainKey.self)
            for (value, key) in keys.enumerated() {
                try container.encode(value, forKey: PlainKey("\(key)"))
            }
        }
    }

    /// Encodes members, and counts the steps of the stream.
    final class Counted: Encodable {
        let members: Members
        var steps = -1

        init(_ keys: [Int]) { members = Members(keys: keys) }

        func encode(to encoder: any Encoder) throws {
            let stream = try #require(encoder as? StreamEncoder).stream
            // The stream may be one that another encoding has used.
            let before = stream.steps
            var list = encoder.unkeyedContainer()
            try list.encode(members)
            steps = stream.steps - before
        }
    }

    private func steps(_ keys: [Int]) throws -> Int {
        let counted = Counted(keys)
        _ = try JSONWriter().encode(counted)
        return counted.steps
    }

    @Test(arguments: Writing.allCases) func stepsAreLinear(writing: Writing) throws {
        let count = 2000
        let (steps, twice) = (
            try steps(writing.keys(count)), try steps(writing.keys(2 * count))
        )
        #expect(steps >= 0 && twice < 3 * max(steps, count))
        #expect(twice <= 20 * 2 * count)
    }

    /// The last value of a key is encoded, in the place of the last one.
    @Test(arguments: Writing.allCases, [10, 300, 4000])
    func lastValuesAreEncoded(writing: Writing, count: Int) throws {
        let keys = writing.keys(count)
        let text = String(
            decoding: try JSONWriter().encode(Members(keys: keys)), as: UTF8.self)
        let last = Dictionary(keys.enumerated().map { ($1, $0) }) { $1 }
        let members = last.sorted { $0.value < $1.value }.map { "\"\($0.key)\":\($0.value)" }
        #expect(text == "{\(members.joined(separator: ","))}")
    }

    private struct Failing: Encodable {
        struct Refusal: Error {}
        func encode(to encoder: any Encoder) throws {
            var list = encoder.unkeyedContainer()
            try list.encode("part")
            throw Refusal()
        }
    }

    /// Encodes two keys, the first of them a second time, which fails.
    private struct Retried: Encodable {
        var first: [String]

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: PlainKey.self)
            for key in first { try container.encode(1, forKey: PlainKey(key)) }
            try? container.encode(Failing(), forKey: PlainKey("a"))
            try container.encode(2, forKey: PlainKey("last"))
        }
    }

    /// A value that could not be encoded does not replace an earlier one.
    @Test(arguments: [["a"], ["a", "b"], ["b", "a"], (0..<50).map { "\($0)" } + ["a", "c"]])
    func failedValueLeavesTheEarlierOne(first: [String]) throws {
        let data = try JSONWriter().encode(Retried(first: first))
        let members = first.map { "\"\($0)\":1" } + ["\"last\":2"]
        #expect(String(decoding: data, as: UTF8.self) == "{\(members.joined(separator: ","))}")
    }

    /// Nested containers of replaced members are left out; the others keep their places.
    private struct Nested: Encodable {
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: PlainKey.self)
            var lists: [any UnkeyedEncodingContainer] = []
            for key in ["a", "b", "a", "c", "b", "d"] {
                lists.append(container.nestedUnkeyedContainer(forKey: PlainKey(key)))
            }
            for index in lists.indices { try lists[index].encode(index) }
        }
    }

    @Test func nestedContainersOfReplacedMembersAreLeftOut() throws {
        let text = String(decoding: try JSONWriter().encode(Nested()), as: UTF8.self)
        #expect(text == #"{"a":[2],"c":[3],"b":[4],"d":[5]}"#)
    }
}
