import ErrandJSON
import Foundation
import TestSupport
import Testing

/// A type with a property of every common kind.
private struct Item: Codable, Equatable {
    var a: Int?
    var b: [String: Double]?
    var c: [Item]?
    var d: String?
    var e: Bool?
    var f: Choice?
    var g: [Int8?]?
}

private enum Choice: String, Codable { case a, b, n }

private struct Required: Codable, Equatable {
    var a: Int
    var b: String
}

private enum Shape: Codable, Equatable {
    case circle(radius: Double)
    case rectangle(width: Double, height: Double)
    case point
}

/// A JSON value of any kind, decoded by trying each type.
private indirect enum Anything: Codable, Equatable {
    case null, bool(Bool), int(Int), double(Double), string(String), array([Anything])
    case object([String: Anything])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int.self) {
            self = .int(value)
        } else if let value = try? container.decode(Double.self) {
            self = .double(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([Anything].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: Anything].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .int(let value): try container.encode(value)
        case .double(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }
}

/// The result of decoding, with errors reduced to kind and path.
private func outcome<T>(_ decode: () throws -> T) -> Result<T, Outcome> {
    do {
        return .success(try decode())
    } catch let error as DecodingError {
        return .failure(Outcome(error))
    } catch {
        return .failure(Outcome(kind: "\(error)", path: []))
    }
}

private struct Outcome: Error, Equatable {
    var kind: String
    var path: [String]

    init(kind: String, path: [String]) {
        self.kind = kind
        self.path = path
    }

    init(_ error: DecodingError) {
        func keys(_ context: DecodingError.Context) -> [String] {
            context.codingPath.map { $0.stringValue + "/" + ($0.intValue.map(String.init) ?? "") }
        }
        switch error {
        case .dataCorrupted(let context):
            self.init(kind: "corrupted", path: keys(context))
        case .keyNotFound(let key, let context):
            self.init(kind: "missing \(key.stringValue)", path: keys(context))
        case .typeMismatch(let type, let context):
            self.init(kind: "mismatch \(type)", path: keys(context))
        case .valueNotFound(let type, let context):
            self.init(kind: "null \(type)", path: keys(context))
        @unknown default:
            self.init(kind: "unknown", path: [])
        }
    }
}

@Suite struct DecoderDifferentialTests {
    /// Expects the same result from both decoders.
    ///
    /// - Parameter hasOrder: Whether the first error is deterministic. Foundation decodes the
    ///   values of a dictionary in any order.
    private func compare<T: Decodable & Equatable>(
        _ type: T.Type, _ bytes: [UInt8], hasOrder: Bool = true
    ) {
        let data = Data(bytes)
        let expected = outcome { try JSONDecoder().decode(type, from: data) }
        let own = outcome { try JSONReader().decode(type, from: data) }
        if own == expected { return }
        switch (own, expected) {
        case (.failure, .failure) where !hasOrder: return
        case (.failure(let own), .failure(let expected))
        where own.kind == expected.kind && own.kind == "corrupted" && expected.path.isEmpty:
            // Foundation's error for a number out of range has no coding path.
            return
        case (.failure, .success) where !isEntirelyValid(data):
            // Foundation does not validate strings that the type does not decode.
            return
        default:
            let text = String(decoding: bytes, as: UTF8.self)
            Issue.record("\(type) from \(text): \(own), Foundation \(expected)")
        }
    }

    private func isEntirelyValid(_ data: Data) -> Bool {
        (try? JSONDecoder().decode(Anything.self, from: data)) != nil
    }

    private func compare<T: Decodable & Equatable>(
        _ type: T.Type, _ text: String, hasOrder: Bool = true
    ) {
        compare(type, Array(text.utf8), hasOrder: hasOrder)
    }

    @Test func agreesOnGeneratedDocuments() {
        var generator = DocumentGenerator(seed: 17)
        for _ in 0..<3000 {
            let text = generator.document(depth: 3)
            compare(Anything.self, text)
            compare([String: Anything].self, text, hasOrder: false)
            compare([Double].self, text)
            compare([String: [String?]].self, text, hasOrder: false)
        }
    }

    @Test func agreesOnDocumentsGeneratedForTheTypes() {
        var random = SeededGenerator(seed: 19)
        for _ in 0..<6000 {
            let text = item(&random, 2)
            compare(Item.self, text)
            compare([Item].self, "[\(text)]")
            compare(Required.self, text)
            compare([String: Item].self, "{\"x\":\(text)}")
        }
    }

    private func item(_ random: inout SeededGenerator, _ depth: Int) -> String {
        var members: [String] = []
        func add(_ key: String, _ right: String, _ random: inout SeededGenerator) {
            let wrong = ["null", "1", "1.5", "\"a\"", "[]", "{}", "true", "[null]", "300", "1e30"]
            switch random.below(12) {
            case 0: break
            case 1: members.append("\"\(key)\":\(wrong[random.below(wrong.count)])")
            case 2: members.append("\"\(key)\":null")
            default: members.append("\"\(key)\":\(right)")
            }
        }
        add("a", "\(Int(truncatingIfNeeded: random.next()))", &random)
        add("b", #"{"x":1.5,"y":-2e3}"#, &random)
        if depth > 0 { add("c", "[\(item(&random, depth - 1))]", &random) }
        add("d", #""te\u0078t""#, &random)
        add("e", "false", &random)
        add("f", #""n""#, &random)
        add("g", "[1,null,-128]", &random)
        add("unknown", "[{}]", &random)
        members.shuffle(using: &random)
        return "{\(members.joined(separator: ","))}"
    }

    @Test(arguments: [
        "null", "true", "1", "-1", "1.0", "1.5", "1e3", "300", "-129", "1e30", "\"a\"", "\"1\"",
        "[]", "{}", "9223372036854775808", "18446744073709551616", "3.4e39", "-0", "-0.0",
        "9007199254740993", "9007199254740993.0", "0.1", "16777217", "", "[", "x",
    ])
    func agreesOnScalars(text: String) {
        compare(Int.self, text)
        compare(Int8.self, text)
        compare(UInt.self, text)
        compare(UInt64.self, text)
        compare(Double.self, text)
        compare(Float.self, text)
        compare(Bool.self, text)
        compare(String.self, text)
        compare(Int?.self, text)
        compare(Choice.self, text)
        compare([Int].self, text)
        compare([String: Int].self, text)
        compare(Required.self, text)
        compare(URL.self, text)
        compare(Decimal.self, text)
        compare(Date.self, text)
        compare(Data.self, text)
    }

    @Test(arguments: [
        #"{"circle":{"radius":1}}"#, #"{"rectangle":{"width":1}}"#, #"{"point":{}}"#,
        #"{"point":{},"circle":{"radius":1}}"#, #"{}"#, #"{"other":{}}"#, #"[]"#,
        #"{"circle":{"radius":"1"}}"#, #"{"circle":null}"#,
    ])
    func agreesOnEnumsWithAssociatedValues(text: String) { compare(Shape.self, text) }

    @Test func agreesOnDictionariesWithNonStringKeys() {
        compare([Int: String].self, #"{"1":"a","-2":"b"}"#)
        compare([Int: String].self, #"{"x":"a"}"#)
        compare([Choice: Int].self, #"["a",1,"b",2]"#)
        compare([[[Double]]].self, "[[[1,2],[3.5]],[]]")
        compare([[[Double]]].self, "[[[1,2],[3.5,null]],[]]")
        compare([[Int]].self, "[[1],[2,\"3\"]]")
        compare(Set<String>.self, #"["a","b","a"]"#)
        compare([String].self, #"["a",1]"#)
        compare([Bool].self, "[true,0]")
    }

    @Test func agreesOnTruncatedAndMutatedDocuments() {
        let text =
            #"{"a":1,"b":{"x":1.5},"c":[{"d":"é\n"}],"d":"\ud83d\ude00","e":true,"g":[1,null]}"#
        let bytes = Array(text.utf8)
        var random = SeededGenerator(seed: 23)
        for length in 0...bytes.count { compare(Item.self, Array(bytes[..<length])) }
        for _ in 0..<4000 {
            var changed = bytes
            for _ in 0...random.below(3) {
                let printable = UInt8(random.below(95) + 32)
                changed[random.below(changed.count)] = random.chance(4) ? 0xC3 : printable
            }
            compare(Item.self, changed)
        }
    }
}
