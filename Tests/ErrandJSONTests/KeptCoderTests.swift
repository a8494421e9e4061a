import ErrandJSON
import Foundation
import Testing

/// Decoders, encoders and containers are used again for the next value; those that somebody has
/// kept must go on saying what they said.
@Suite struct KeptCoderTests {
    private enum Keys: CodingKey { case id, inner, items }

    private struct KeepsDecoder: Decodable {
        let decoder: any Decoder
        init(from decoder: any Decoder) throws { self.decoder = decoder }
        func id() throws -> Int {
            try decoder.container(keyedBy: Keys.self).decode(Int.self, forKey: .id)
        }
    }

    private struct KeepsContainer: Decodable {
        let container: KeyedDecodingContainer<Keys>
        init(from decoder: any Decoder) throws {
            container = try decoder.container(keyedBy: Keys.self)
        }
    }

    private struct KeepsNested: Decodable {
        let container: KeyedDecodingContainer<Keys>
        let items: any UnkeyedDecodingContainer
        let decoder: any Decoder
        init(from decoder: any Decoder) throws {
            let outer = try decoder.container(keyedBy: Keys.self)
            container = try outer.nestedContainer(keyedBy: Keys.self, forKey: .inner)
            items = try outer.nestedUnkeyedContainer(forKey: .items)
            self.decoder = try outer.superDecoder(forKey: .id)
        }
    }

    private struct Plain: Codable, Equatable {
        var id: Int
        var inner: [String: Int]?
    }

    private static let data = Data(
        (0..<9).map { #"{"id":\#($0),"inner":{"id":\#($0 + 100)},"items":[\#($0),1]}"# }
            .joined(separator: ",").utf8)
    private static let array = Data("[".utf8) + data + Data("]".utf8)

    @Test func keptDecodersKeepTheirValue() throws {
        let kept = try FastJSONDecoder().decode([KeepsDecoder].self, from: KeptCoderTests.array)
        #expect(try kept.map { try $0.id() } == Array(0..<9))
        #expect(kept.map { $0.decoder.codingPath.first?.intValue } == Array(0..<9))
    }

    @Test func keptContainersKeepTheirValue() throws {
        for _ in 0..<3 {
            let kept = try FastJSONDecoder().decode(
                [KeepsContainer].self, from: KeptCoderTests.array)
            let ids = try kept.map { try $0.container.decode(Int.self, forKey: .id) }
            #expect(ids == Array(0..<9))
            #expect(kept.map { $0.container.codingPath.first?.intValue } == Array(0..<9))
            let inner = try kept.map { try $0.container.decode([String: Int].self, forKey: .inner) }
            #expect(inner.map { $0["id"] } == Array(100..<109))
        }
    }

    @Test func keptNestedContainersKeepTheirValue() throws {
        var kept = try FastJSONDecoder().decode([KeepsNested].self, from: KeptCoderTests.array)
        let ids = try kept.map { try $0.container.decode(Int.self, forKey: .id) }
        #expect(ids == Array(100..<109))
        #expect(kept.map { $0.container.codingPath.map(\.stringValue) }[3] == ["Index 3", "inner"])
        for index in kept.indices {
            var items = kept[index].items
            #expect(try items.decode(Int.self) == index)
            #expect(try kept[index].decoder.singleValueContainer().decode(Int.self) == index)
        }
        kept = []
    }

    @Test func otherValuesAreUntouchedByKeptOnes() throws {
        struct Mixed: Decodable {
            var kept: KeepsContainer
            var plain: Plain

            init(from decoder: any Decoder) throws {
                kept = try KeepsContainer(from: decoder)
                plain = try Plain(from: decoder)
            }
        }
        let values = try FastJSONDecoder().decode([Mixed].self, from: KeptCoderTests.array)
        #expect(values.map(\.plain.id) == Array(0..<9))
        #expect(try values.map { try $0.kept.container.decode(Int.self, forKey: .id) }[8] == 8)
    }

    @Test func recursiveTypesShareNoDecoder() throws {
        struct Tree: Codable, Equatable {
            var name: String
            var kids: [Tree]
            var last: [String: Tree]
        }
        func tree(_ depth: Int, _ name: String) -> Tree {
            Tree(
                name: name,
                kids: depth == 0 ? [] : (0..<3).map { tree(depth - 1, "\(name).\($0)") },
                last: depth == 0 ? [:] : ["x": tree(depth - 1, name + "x")])
        }
        let value = tree(4, "t")
        let bytes = try FastJSONEncoder().encode(value)
        #expect(try JSONDecoder().decode(Tree.self, from: bytes) == value)
        #expect(try FastJSONDecoder().decode(Tree.self, from: bytes) == value)
    }

    @Test func aFailedItemLeavesTheNextOneAlone() throws {
        struct Lossy: Decodable {
            var items: [Plain] = []
            init(from decoder: any Decoder) throws {
                var container = try decoder.unkeyedContainer()
                while !container.isAtEnd {
                    if let item = try? container.decode(Plain.self) {
                        items.append(item)
                    } else {
                        _ = try container.decode(JSONValue.self)
                    }
                }
            }
        }
        struct JSONValue: Decodable { init(from decoder: any Decoder) {} }
        let data = Data(#"[{"id":1},{"id":"x"},{},{"id":4,"inner":{"a":1}},7,{"id":5}]"#.utf8)
        #expect(try FastJSONDecoder().decode(Lossy.self, from: data).items.map(\.id) == [1, 4, 5])
    }

    @Test func aKeptEncodingContainerDoesNotWriteIntoOthers() throws {
        final class Box { var kept: [KeyedEncodingContainer<Keys>] = [] }
        struct Keeping: Encodable {
            let box: Box
            let id: Int
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Keys.self)
                try container.encode(id, forKey: .id)
                box.kept.append(container)
            }
        }
        let box = Box()
        let values = (0..<5).map { Keeping(box: box, id: $0) }
        let expected = #"[{"id":0},{"id":1},{"id":2},{"id":3},{"id":4}]"#
        #expect(String(decoding: try FastJSONEncoder().encode(values), as: UTF8.self) == expected)
        // Written to when all is over, they reach nobody.
        for index in box.kept.indices { try? box.kept[index].encode(9, forKey: .inner) }
        #expect(box.kept.map { $0.codingPath.first?.intValue } == Array(0..<5))
        #expect(String(decoding: try FastJSONEncoder().encode(values), as: UTF8.self) == expected)
    }
}
