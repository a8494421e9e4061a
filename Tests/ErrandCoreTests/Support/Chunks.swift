import TestSupport

/// Ways to divide bytes into chunks, for comparisons of the results.
enum Chunks {
    /// The bytes as a whole, byte by byte, with empty chunks between them, and split at every byte.
    static func all(of bytes: [UInt8]) -> [[[UInt8]]] {
        var ways = [[bytes], bytes.map { [$0] }, [[]] + bytes.flatMap { [[$0], []] }]
        for index in bytes.indices.dropFirst() {
            ways.append([Array(bytes[..<index]), Array(bytes[index...])])
        }
        return ways
    }

    /// The bytes divided at random places.
    static func random(of bytes: [UInt8], using random: inout SeededGenerator) -> [[UInt8]] {
        var chunks: [[UInt8]] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = Int.random(in: 0...min(rest.count, 12), using: &random)
            chunks.append(Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        return chunks
    }
}

extension [UInt8] {
    /// Passes the chunk to a parser that removes what it uses.
    func asInput<R, E: Error>(
        _ body: (inout UnsafeRawBufferPointer) throws(E) -> R
    ) throws(E) -> R {
        try withUnsafeBufferPointer { bytes throws(E) in
            var input = UnsafeRawBufferPointer(bytes)
            return try body(&input)
        }
    }
}
