import Foundation
import Testing

@testable import ErrandCore

/// What is written reads back, for trees and names of every kind.
///
/// A failure names its seed.
@Suite(.timeLimit(.minutes(5)))
struct EncodingPropertyTests {
    /// A small generator of numbers that are the same for the same seed (SplitMix64).
    struct Dice: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }

        mutating func text(upTo length: Int) -> String {
            let alphabet: [Character] = [
                "a", "Z", "0", " ", "+", "&", "=", "%", "[", "]", "?", "/", "#", "\"", "\\", "\n",
                "\r", "\t",
                "\0", "é", "日", "👨‍👩‍👧‍👦", ";", ",", "'", "\u{2028}", "~", "-",
            ]
            return String(
                (0..<Int.random(in: 0...length, using: &self)).map { _ in
                    alphabet.randomElement(using: &self) ?? "x"
                })
        }

        /// A tree of texts; names without brackets, so that a path can be taken apart again.
        mutating func tree(depth: Int) -> ArgumentNode {
            switch Int.random(in: 0...(depth == 0 ? 0 : 2), using: &self) {
            case 0: return .string(text(upTo: 8))
            case 1:
                return .array(
                    (0..<Int.random(in: 1...3, using: &self)).map { _ in tree(depth: depth - 1) })
            default: return .object(object(depth: depth - 1))
            }
        }

        mutating func object(depth: Int) -> Arguments {
            var arguments = Arguments()
            for index in 0..<Int.random(in: 1...4, using: &self) {
                let name = text(upTo: 5).filter { $0 != "[" && $0 != "]" } + String(index)
                arguments.append(name, tree(depth: depth))
            }
            return arguments
        }
    }

    /// Reads `a[b][0]=c` back into a tree, by splitting and nothing else.
    private func read(_ text: String) throws -> Arguments {
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

        func node(isRoot: Bool = false) -> ArgumentNode {
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
        var dice = Dice(state: seed)
        var arguments = dice.object(depth: 3)
        // An object whose names are 0, 1 … is an array to any reader.
        arguments.append("last", "x")
        let bytes = try FormWriter.bytes(
            of: arguments, encoding: ArgumentEncoding(arrays: .indices))
        #expect(bytes.allSatisfy { $0 > 0x20 && $0 < 0x7F })
        let expected = Self.normalized(arguments)
        #expect(try read(String(decoding: bytes, as: UTF8.self)) == expected, "seed \(seed)")
    }

    /// Objects that look like arrays become some, as they do for a reader.
    private static func normalized(_ arguments: Arguments) -> Arguments {
        var copy = arguments
        for index in copy.items.indices {
            copy.items[index].node = normalized(copy.items[index].node)
        }
        return copy
    }

    private static func normalized(_ node: ArgumentNode) -> ArgumentNode {
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
    func jsonReadsBack(seed: UInt64) throws {
        var dice = Dice(state: seed)
        let arguments = dice.object(depth: 4)
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

    @Test(arguments: 0..<100)
    func multipartSurvivesAnyNameAndContent(seed: UInt64) async throws {
        var dice = Dice(state: seed)
        var body = MultipartBody()
        var expected: [(filename: String, content: Data)] = []
        for _ in 0..<Int.random(in: 0...4, using: &dice) {
            // NB: %22, %0A and %0D in a name look like escapes to a reader; the format has no way out.
            let filename = dice.text(upTo: 12).replacingOccurrences(of: "%", with: "_")
            let content = Data(
                (0..<Int.random(in: 0...300, using: &dice)).map { _ in
                    [13, 10, 45, UInt8.random(in: 0...255, using: &dice)].randomElement(
                        using: &dice) ?? 0
                })
            body.append(.data("f", content, filename: filename))
            expected.append((filename, content))
        }
        let drained = await drain(try HTTPBody.multipart(body).makeSource(), pieces: 64)
        let parts = try #require(readMultipart(drained.data, boundary: body.boundary))
        #expect(parts.map(\.body) == expected.map(\.content), "seed \(seed)")
        #expect(
            parts.map { $0.disposition("filename") } == expected.map(\.filename), "seed \(seed)")
    }

    @Test(arguments: 0..<200)
    func parsingAnythingNeverTrapsAndIsStable(seed: UInt64) throws {
        var dice = Dice(state: seed)
        let prefix = ["", "http://", "http://h/", "//", "a:", "http://[", "http://u@", "http://h:"]
        let text = (prefix.randomElement(using: &dice) ?? "") + dice.text(upTo: 20)
        guard let uri = try? URI(parsing: text) else { return }
        #expect(try URI(parsing: uri.string) == uri, "seed \(seed)")
        #expect(uri.string.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "seed \(seed)")
        _ = uri.resolved(against: try URI(parsing: "http://a/b/c"))
    }
}
