import ErrandJSON
import Foundation
import Testing

/// Coders and containers that user code retains keep their value, although others are reused.
@Suite struct RetainedCoderTests {
    private enum Keys: CodingKey { case id, inner, items }

    private struct RetainsDecoder: Decodable {
        let decoder: any Decoder
        init(from decoder: any Decoder) throws { self.decoder = decoder }
        func id() throws -> Int {
            try decoder.container(keyedBy: Keys.self).decode(Int.self, forKey: .id)
        }
    }

    private struct RetainsContainer: Decodable {
        let container: KeyedDecodingContainer<Keys>
        init(from decoder: any Decoder) throws {
            container = try decoder.container(keyedBy: Keys.self)
        }
    }

    private struct RetainsNested: Decodable {
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

    @Test func retainedDecodersKeepTheirValue() throws {
        let retained = try JSONReader().decode(
            [RetainsDecoder].self, from: RetainedCoderTests.array)
        #expect(try retained.map { try $0.id() } == Array(0..<9))
        #expect(retained.map { $0.decoder.codingPath.first?.intValue } == Array(0..<9))
    }

    @Test func retainedContainersKeepTheirValue() throws {
        for _ in 0..<3 {
            let retained = try JSONReader().decode(
                [RetainsContainer].self, from: RetainedCoderTests.array)
            let ids = try retained.map { try $0.container.decode(Int.self, forKey: .id) }
            #expect(ids == Array(0..<9))
            #expect(retained.map { $0.container.codingPath.first?.intValue } == Array(0..<9))
            let inner = try retained.map {
                try $0.container.decode([String: Int].self, forKey: .inner)
            }
            #expect(inner.map { $0["id"] } == Array(100..<109))
        }
    }

    @Test func retainedNestedContainersKeepTheirValue() throws {
        var retained = try JSONReader().decode(
            [RetainsNested].self, from: RetainedCoderTests.array)
        let ids = try retained.map { try $0.container.decode(Int.self, forKey: .id) }
        #expect(ids == Array(100..<109))
        let paths = retained.map { $0.container.codingPath.map(\.stringValue) }
        #expect(paths[3] == ["Index 3", "inner"])
        for index in retained.indices {
            var items = retained[index].items
            #expect(try items.decode(Int.self) == index)
            #expect(try retained[index].decoder.singleValueContainer().decode(Int.self) == index)
        }
        retained = []
    }

    @Test func retainedCodersDoNotAffectOtherValues() throws {
        struct Mixed: Decodable {
            var retained: RetainsContainer
            var plain: Plain

            init(from decoder: any Decoder) throws {
                retained = try RetainsContainer(from: decoder)
                plain = try Plain(from: decoder)
            }
        }
        let values = try JSONReader().decode([Mixed].self, from: RetainedCoderTests.array)
        #expect(values.map(\.plain.id) == Array(0..<9))
        #expect(try values.map { try $0.retained.container.decode(Int.self, forKey: .id) }[8] == 8)
    }

    @Test func recursiveTypesDoNotShareADecoder() throws {
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
        let bytes = try JSONWriter().encode(value)
        #expect(try JSONDecoder().decode(Tree.self, from: bytes) == value)
        #expect(try JSONReader().decode(Tree.self, from: bytes) == value)
    }

    @Test func failedItemsDoNotAffectLaterItems() throws {
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
        #expect(try JSONReader().decode(Lossy.self, from: data).items.map(\.id) == [1, 4, 5])
    }

    @Test func retainedEncodingContainersDoNotWriteIntoOtherValues() throws {
        final class Box { var retained: [KeyedEncodingContainer<Keys>] = [] }
        struct Retaining: Encodable {
            let box: Box
            let id: Int
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Keys.self)
                try container.encode(id, forKey: .id)
                box.retained.append(container)
            }
        }
        let box = Box()
        let values = (0..<5).map { Retaining(box: box, id: $0) }
        let expected = #"[{"id":0},{"id":1},{"id":2},{"id":3},{"id":4}]"#
        #expect(String(decoding: try JSONWriter().encode(values), as: UTF8.self) == expected)
        // Writes after encoding has ended have no effect.
        for index in box.retained.indices { try? box.retained[index].encode(9, forKey: .inner) }
        #expect(box.retained.map { $0.codingPath.first?.intValue } == Array(0..<5))
        #expect(String(decoding: try JSONWriter().encode(values), as: UTF8.self) == expected)
    }
}
