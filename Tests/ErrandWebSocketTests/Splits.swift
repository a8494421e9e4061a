import TestSupport

/// The ways to split bytes: whole, each byte alone, and in two at each place.
enum Splits {
    static func all(_ bytes: [UInt8]) -> [[[UInt8]]] {
        let places = bytes.count <= 300 ? Array(0...bytes.count) : []
        return [[bytes], bytes.map { [$0] }]
            + places.map { [Array(bytes[..<$0]), Array(bytes[$0...])] }
    }

    /// The segments between random places.
    static func random(_ bytes: [UInt8], _ random: inout SeededGenerator) -> [[UInt8]] {
        var segments: [[UInt8]] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = random.below(3) == 0 ? random.below(4) : random.below(40)
            segments.append(Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        return segments
    }
}

extension SeededGenerator {
    /// A number below a limit.
    mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<max(1, limit), using: &self) }

    mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8(below(256)) } }
}
