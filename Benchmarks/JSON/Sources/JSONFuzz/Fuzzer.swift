import ErrandJSON
import Foundation

/// Changes documents at random and checks what becomes of them.
struct Fuzzer {
    private(set) var accepted = 0
    private var random: UInt64
    /// Documents to start from; accepted mutants join them now and then.
    private var corpus: [[UInt8]] = [
        #"{"a":[1,-2.5e-3,"x\u00e9\ud83d\ude00\n日本"],"b":{"c":null,"d":true,"e":false},"f":""}"#,
        #"[[[[]]],{"":{}},"\\\"\/\b\f\n\r\t",0,-0,1e5,123456789012345678901234567890]"#,
        "  [ 1 ,\t2\n,\r3 ] ", #""é日😀 and a text of more than sixteen bytes""#, "-12.5E+10",
        #"{"id":1,"nick":"ann","tags":["x","y"],"inner":{"id":2},"score":1.5,"ok":true}"#,
    ].map { Array($0.utf8) }

    private let shape: JSONShape = [
        "a": [.number], "b": .closed(["c": .optional(.string)]), "f": .pattern("^a*$"),
        "id": .range(0...9), "tags": .tuple([.string, .length(1...2)]),
    ]

    private struct Item: Codable, Equatable {
        var id: Int?
        var nick: String?
        var tags: [String]?
        var inner: [String: Double]?
        var score: Float?
        var ok: Bool?
        var a: [Double?]?
        var f: Data?
    }

    init(seed: UInt64) { random = seed }

    mutating func round() {
        var bytes = corpus[below(corpus.count)]
        for _ in 0...below(6) { mutate(&bytes) }
        if bytes.count > 4096 { bytes.removeLast(bytes.count - 4096) }
        check(bytes)
    }

    private mutating func below(_ bound: Int) -> Int {
        random ^= random << 13
        random ^= random >> 7
        random ^= random << 17
        return Int(random % UInt64(bound))
    }

    private static let interesting =
        Array(#"{}[]",:\u-+.eE0123456789tfn /"#.utf8)
        + [0, 9, 10, 13, 0x1F, 0x7F, 0x80, 0xBF, 0xC0, 0xC3, 0xE0, 0xED, 0xF0, 0xF4, 0xFF]

    private mutating func mutate(_ bytes: inout [UInt8]) {
        guard !bytes.isEmpty else { return bytes.append(UInt8(below(256))) }
        let place = below(bytes.count)
        switch below(7) {
        case 0: bytes[place] = UInt8(below(256))
        case 1: bytes[place] ^= 1 << UInt8(below(8))
        case 2: bytes.insert(Fuzzer.interesting[below(Fuzzer.interesting.count)], at: place)
        case 3: bytes.remove(at: place)
        case 4: bytes.insert(contentsOf: bytes[place...].prefix(below(20)), at: place)
        case 5: bytes.insert(contentsOf: corpus[below(corpus.count)], at: place)
        default: bytes.removeSubrange(place..<min(bytes.count, place + below(8)))
        }
    }

    private mutating func check(_ bytes: [UInt8]) {
        let item = try? FastJSONDecoder().decode(Item.self, from: bytes)
        if let item, let text = try? FastJSONEncoder().encodeBytes(item) {
            let again = try? FastJSONDecoder().decode(Item.self, from: text)
            expect(again == item, "encoding and decoding", bytes)
        }
        do throws(JSONError) {
            let json = try JSON(parsing: bytes)
            accepted += 1
            expect(String(validating: bytes, as: UTF8.self) != nil, "UTF-8", bytes)
            expect((try? JSON(parsing: json.serialized())) == json, "printing", bytes)
            let sorted = json.serialized(pretty: true, sortedKeys: true)
            expect((try? JSON(parsing: sorted)) == json, "sorting", bytes)
            expect(shape.matches(json) == shape.faults(in: json).isEmpty, "validating", bytes)
            _ = json.foundationObject
            if below(50) == 0, corpus.count < 500 { corpus.append(bytes) }
        } catch {
            expect(error.byteOffset <= bytes.count && error.line > 0, "place", bytes)
        }
    }

    private func expect(_ isTrue: Bool, _ what: String, _ bytes: [UInt8]) {
        if isTrue { return }
        print("\(what) fails on \(bytes): \(String(decoding: bytes, as: UTF8.self))")
        exit(1)
    }
}
