import ErrandJSON
import Foundation

/// The invariants that are checked for every document.
extension Fuzzer {
    mutating func check(_ bytes: [UInt8]) {
        checkDecoders(bytes)
        do throws(JSONError) {
            let json = try JSON(parsing: bytes)
            accepted += 1
            expect(String(validating: bytes, as: UTF8.self) != nil, "UTF-8", bytes)
            checkText(json, bytes)
            checkShapes(json, bytes)
            checkAccess(json, bytes)
            if below(50) == 0, corpus.count < 500 { corpus.append(bytes) }
        } catch {
            expect(error.byteOffset <= bytes.count && error.line > 0, "error position", bytes)
        }
    }

    // MARK: - Text

    private func checkText(_ json: JSON, _ bytes: [UInt8]) {
        expect((try? JSON(parsing: json.serialized())) == json, "printing", bytes)
        let sorted = json.serialized(pretty: true, sortedKeys: true)
        expect((try? JSON(parsing: sorted)) == json, "sorting", bytes)
        let object = json.foundationObject
        expect((try? JSON(foundation: object)) != nil, "bridging", bytes)
    }

    // MARK: - Shapes

    private static let shapes: [JSONShape] = [
        [
            "a": [.number], "b": .closed(["c": .optional(.string)]), "f": .pattern("^a*$"),
            "id": .range(0...9), "tags": .tuple([.string, .length(1...2)]),
        ],
        .strict(["a": .nullable([.double]), "b": .dictionary(of: .oneOf([.null, .bool]))]),
        [.oneOf([.int, .range(0.5...), [.any], .enumeration(["a", 1, nil]), .object])],
        .closed([
            "fifteen bytes !": .int, "sixteen bytes !!": .length(0...3),
            "one of more than sixteen bytes": .array, "a": .optional(.any),
        ]),
        .dictionary(of: .nonNull(.custom("short") { $0.count < 3 })),
    ]

    private func checkShapes(_ json: JSON, _ bytes: [UInt8]) {
        for shape in Fuzzer.shapes {
            let faults = shape.faults(in: json)
            expect(shape.matches(json) == faults.isEmpty, "validating", bytes)
            expect(shape.firstFault(in: json)?.path == faults.first?.path, "first fault", bytes)
        }
    }

    // MARK: - Access

    /// Accesses every value by iteration, position and key, and missing values.
    private mutating func checkAccess(_ json: JSON, _ bytes: [UInt8]) {
        var open = [json]
        while let value = open.popLast() {
            _ = (value.int, value.uint64, value.double, value.number, value.bool, value.string)
            _ = (value.integer(Int8.self), value.integer(UInt128.self), value.isNull)
            expect(!value[value.count].exists && !value[-1].exists, "bounds", bytes)
            expect(!value["no such key"][0]["x"].exists, "absent", bytes)
            let items = Array(value)
            expect(items.count == value.count, "count", bytes)
            if let array = value.array {
                let place = array.isEmpty ? 0 : below(array.count)
                expect(array.isEmpty || value[place] == array[place], "position", bytes)
            }
            for (key, member) in value.object ?? [] {
                let first = value.object?.first { $0.key.utf8.elementsEqual(key.utf8) }?.value
                expect(value[key] == first, "key", bytes)
                _ = member.kind
            }
            open += items
        }
    }

    // MARK: - Codable

    private struct Item: Codable, Equatable {
        var id: Int?
        var nick: String?
        var tags: [String]?
        var inner: [String: Double]?
        var score: Float?
        var ok: Bool?
        var a: [Double?]?
        var f: Data?
        var when: Date?
        var at: URL?
        var exact: Decimal?
        var one: Either?
        var s: Set<Int>?
        var tree: Tree?
        var snakeCaseKey: UInt8?
    }

    private enum Either: Codable, Equatable {
        case left(Int)
        case right(text: String)
    }

    private struct Tree: Codable, Equatable {
        var kids: [Tree]
        var n: Double?
    }

    /// A JSON value of any kind, decoded by trying each type.
    private indirect enum Anything: Codable, Equatable {
        case null, bool(Bool), number(Double), string(String)
        case array([Anything]), object([String: Anything])

        init(from decoder: any Decoder) throws {
            let value = try decoder.singleValueContainer()
            if value.decodeNil() {
                self = .null
            } else if let bool = try? value.decode(Bool.self) {
                self = .bool(bool)
            } else if let number = try? value.decode(Double.self) {
                self = .number(number)
            } else if let string = try? value.decode(String.self) {
                self = .string(string)
            } else if let array = try? value.decode([Anything].self) {
                self = .array(array)
            } else {
                self = .object(try value.decode([String: Anything].self))
            }
        }

        func encode(to encoder: any Encoder) throws {
            var value = encoder.singleValueContainer()
            switch self {
            case .null: try value.encodeNil()
            case .bool(let bool): try value.encode(bool)
            case .number(let number): try value.encode(number)
            case .string(let string): try value.encode(string)
            case .array(let array): try value.encode(array)
            case .object(let object): try value.encode(object)
            }
        }
    }

    private mutating func checkDecoders(_ bytes: [UInt8]) {
        var decoder = JSONReader()
        var encoder = JSONWriter()
        if below(4) == 0 {
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            encoder.keyEncodingStrategy = .convertToSnakeCase
        }
        let item = try? decoder.decode(Item.self, from: bytes)
        if let item, let text = try? encoder.encodeBytes(item) {
            expect((try? decoder.decode(Item.self, from: text)) == item, "round trip", bytes)
        }
        encoder.outputFormatting = [[], .prettyPrinted, .sortedKeys][below(3)]
        if let any = try? JSONReader().decode(Anything.self, from: bytes) {
            let text = (try? JSONWriter().encodeBytes(any)) ?? []
            let again = try? JSONReader().decode(Anything.self, from: text)
            expect(again == any, "round trip of anything", bytes)
        }
    }

    private func expect(_ isTrue: Bool, _ what: String, _ bytes: [UInt8]) {
        if isTrue { return }
        print("\(what) fails on \(bytes): \(String(decoding: bytes, as: UTF8.self))")
        exit(1)
    }
}
