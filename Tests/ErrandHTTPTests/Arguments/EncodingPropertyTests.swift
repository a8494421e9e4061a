import Foundation
import TestSupport
import Testing

@testable import ErrandHTTP

/// Encoded arguments decode to the same values, for random input.
///
/// Each failure names its seed.
@Suite(.limited)
struct EncodingPropertyTests {
    /// Decodes `a[b][0]=c` into a tree, independently of the encoder.
    private func decode(_ text: String) throws -> Arguments {
        let root = Branch()
        for pair in text.split(separator: "&") {
            let sides = pair.split(separator: "=", omittingEmptySubsequences: false)
            try #require(sides.count == 2)
            let name = try #require(sides[0].removingPercentEncoding)
            let value = try #require(sides[1].removingPercentEncoding)
            let path = name.replacingOccurrences(of: "]", with: "").components(separatedBy: "[")
            root.insert(value, at: path[...])
        }
        guard case .object(let arguments) = root.node(isRoot: true) else { return [:] }
        return arguments
    }

    private final class Branch {
        var value: String?
        var children: [(name: String, branch: Branch)] = []

        func insert(_ value: String, at path: ArraySlice<String>) {
            guard let first = path.first else {
                self.value = value
                return
            }
            if let child = children.first(where: { $0.name == first }) {
                child.branch.insert(value, at: path.dropFirst())
            } else {
                let child = Branch()
                children.append((first, child))
                child.insert(value, at: path.dropFirst())
            }
        }

        func node(isRoot: Bool = false) -> Arguments.Node {
            if let value { return .string(value) }
            let isArray = !isRoot && children.enumerated().allSatisfy { $1.name == String($0) }
            if isArray { return .array(children.map { $0.branch.node() }) }
            var arguments = Arguments()
            for (name, branch) in children { arguments.append(name, branch.node()) }
            return .object(arguments)
        }
    }

    @Test(arguments: 0..<200)
    func formDecodesToTheSameTree(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var arguments = generator.object(depth: 3)
        // An object with the names 0, 1 … would decode as an array.
        arguments.append("last", "x")
        let bytes = try FormWriter.bytes(
            of: arguments, encoding: ArgumentEncoding(arrays: .indices))
        #expect(bytes.allSatisfy { $0 > 0x20 && $0 < 0x7F })
        let expected = Self.normalized(arguments)
        #expect(try decode(String(decoding: bytes, as: UTF8.self)) == expected, "seed \(seed)")
    }

    /// Replaces objects with the names 0, 1 … by arrays, as the decoder does.
    private static func normalized(_ arguments: Arguments) -> Arguments {
        var copy = arguments
        for index in copy.items.indices {
            copy.items[index].node = normalized(copy.items[index].node)
        }
        return copy
    }

    private static func normalized(_ node: Arguments.Node) -> Arguments.Node {
        switch node {
        case .array(let nodes): return .array(nodes.map(normalized))
        case .object(let arguments):
            let inside = normalized(arguments)
            let isArray = inside.names.enumerated().allSatisfy { $1 == String($0) }
            return isArray ? .array(inside.items.map(\.node)) : .object(inside)
        default: return node
        }
    }

    @Test(arguments: 0..<200)
    func jsonRoundTrips(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let arguments = generator.object(depth: 4)
        let bytes = try ArgumentJSONWriter.bytes(of: arguments, encoding: .init())
        let json = try JSON(parsing: Data(bytes))
        #expect(json.argumentNode == .object(arguments), "seed \(seed)")
    }

    @Test func jsonNumbersKeepTheirDigits() throws {
        let text =
            #"{"a":1,"b":-0.5,"c":18446744073709551615,"d":12345678901234567890.25,"e":null,"f":[true,{}]}"#
        let json = try JSON(parsing: Data(text.utf8))
        let bytes = try ArgumentJSONWriter.bytes(of: json.argumentNode, encoding: .init())
        #expect(String(decoding: bytes, as: UTF8.self) == text)
        let arguments: Arguments = ["nested": ["b": 1, "a": "x", "c": [nil, true]] as JSON]
        let written = try ArgumentJSONWriter.bytes(of: arguments, encoding: .init())
        #expect(
            String(decoding: written, as: UTF8.self)
                == #"{"nested":{"b":1,"a":"x","c":[null,true]}}"#)
    }
}

extension SeededGenerator {
    /// A tree of strings.
    ///
    /// Names contain no brackets, so that the decoder can split a path.
    fileprivate mutating func tree(depth: Int) -> Arguments.Node {
        switch Int.random(in: 0...(depth == 0 ? 0 : 2), using: &self) {
        case 0: return .string(text(upTo: 8))
        case 1:
            return .array(
                (0..<Int.random(in: 1...3, using: &self)).map { _ in tree(depth: depth - 1) })
        default: return .object(object(depth: depth - 1))
        }
    }

    fileprivate mutating func object(depth: Int) -> Arguments {
        var arguments = Arguments()
        for index in 0..<Int.random(in: 1...4, using: &self) {
            let name = text(upTo: 5).filter { $0 != "[" && $0 != "]" } + String(index)
            arguments.append(name, tree(depth: depth))
        }
        return arguments
    }
}
