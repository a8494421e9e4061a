import ErrandJSON
import Foundation
import TestSupport
import Testing

/// Random mutations of valid documents.
///
/// No document may cause a trap, and accepted documents must be consistent. `Benchmarks/JSON` has
/// the same test as an executable with a configurable duration.
@Suite struct FuzzTests {
    private static let seeds: [String] = [
        #"{"a":[1,-2.5e-3,"x\u00e9\ud83d\ude00\n日本"],"b":{"c":null,"d":true,"e":false},"f":""}"#,
        #"[[[[]]],{"":{}},"\\\"\/\b\f\n\r\t",0,-0,1e5,123456789012345678901234567890]"#,
        "  [ 1 ,\t2\n,\r3 ] ", #""é日😀""#, "-12.5E+10", "null",
    ]

    @Test(arguments: 0..<8) func mutatedDocumentsNeverTrap(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed) &+ 1000)
        let shape: JSONShape = [
            "a": [.number], "b": .closed(["c": .optional(.string)]), "f": .pattern("^a*$"),
        ]
        for _ in 0..<4000 {
            var bytes = Array(FuzzTests.seeds[random.below(FuzzTests.seeds.count)].utf8)
            for _ in 0...random.below(6) { mutate(&bytes, &random) }
            check(bytes, shape)
        }
    }

    private func mutate(_ bytes: inout [UInt8], _ random: inout SeededGenerator) {
        guard !bytes.isEmpty else { return bytes.append(UInt8(random.below(256))) }
        let place = random.below(bytes.count)
        let interesting =
            Array(#"{}[]",:\u-+.eE0123456789tfn /"#.utf8) + [
                0, 9, 10, 0x7F, 0x80, 0xC0, 0xE0, 0xED, 0xF0, 0xF4, 0xFF,
            ]
        switch random.below(6) {
        case 0: bytes[place] = UInt8(random.below(256))
        case 1: bytes[place] ^= 1 << UInt8(random.below(8))
        case 2: bytes.insert(interesting[random.below(interesting.count)], at: place)
        case 3: bytes.remove(at: place)
        case 4: bytes.insert(contentsOf: bytes[place...].prefix(random.below(20)), at: place)
        default: bytes.removeSubrange(place..<min(bytes.count, place + random.below(8)))
        }
    }

    private func check(_ bytes: [UInt8], _ shape: JSONShape) {
        _ = try? JSONReader().decode([String: [Double]].self, from: bytes)
        do throws(JSONError) {
            let json = try JSON(parsing: bytes)
            // Accepted documents are valid UTF-8 and survive every round trip.
            #expect(String(validating: bytes, as: UTF8.self) != nil)
            #expect((try? JSON(parsing: json.serialized())) == json)
            #expect((try? JSON(parsing: json.serialized(pretty: true, sortedKeys: true))) == json)
            #expect(shape.matches(json) == shape.faults(in: json).isEmpty)
            _ = json.foundationObject
        } catch {
            #expect(error.byteOffset <= bytes.count)
            #expect(error.line > 0 && error.column > 0)
        }
    }
}
