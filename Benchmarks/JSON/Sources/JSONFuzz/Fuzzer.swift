import ErrandJSON
import Foundation

/// Mutates documents at random and checks the invariants.
struct Fuzzer {
    var accepted = 0
    private var random: UInt64
    /// The documents to mutate; some accepted mutants are added.
    var corpus: [[UInt8]] = [
        #"{"a":[1,-2.5e-3,"x\u00e9\ud83d\ude00\n日本"],"b":{"c":null,"d":true,"e":false},"f":""}"#,
        #"[[[[]]],{"":{}},"\\\"\/\b\f\n\r\t",0,-0,1e5,123456789012345678901234567890]"#,
        "  [ 1 ,\t2\n,\r3 ] ", #""é日😀 and a text of more than sixteen bytes""#, "-12.5E+10",
        #"{"id":1,"nick":"ann","tags":["x","y"],"inner":{"id":2},"score":1.5,"ok":true}"#,
        #"{"when":0,"at":"https://example.com/x","exact":1.25e2,"one":{"left":{"_0":1}},"s":[1,2]}"#,
        #"{"snake_case_key":1,"_a__b_":2,"tree":{"kids":[{"kids":[]},{"kids":[],"n":1e308}]}}"#,
        #"{"fifteen bytes !":1,"sixteen bytes !!":"é","one of more than sixteen bytes":[],"\u0061":0}"#,
        #"[9007199254740993,-9223372036854775808,18446744073709551615,4.9e-324,1e309,2.5,1E-400]"#,
    ].map { Array($0.utf8) }

    init(seed: UInt64) { random = seed }

    mutating func round() {
        var bytes = corpus[below(corpus.count)]
        for _ in 0...below(6) { mutate(&bytes) }
        if bytes.count > 4096 { bytes.removeLast(bytes.count - 4096) }
        check(bytes)
    }

    mutating func below(_ bound: Int) -> Int {
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
}
