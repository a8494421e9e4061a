package import ErrandHTTP
package import ErrandSystem

/// Finds lines of bytes; several short lines are slices of one copy, because an allocation for each of
/// them costs more than the search.
package struct LineSlices: Sendable {
    /// The size of a copy, so that a line keeps at most this much memory beside itself.
    package static let blockBytes = 4 << 10

    /// A copied part of the input.
    private struct Block {
        /// The addresses of the part in the input.
        var start: UInt = 0
        var end: UInt = 0
        var data = Data()
    }

    private var lines: LineParser
    private var block = Block()

    /// Creates a parser for lines of up to a number of bytes.
    package init(maximumLineBytes: Int) { lines = LineParser(maximumLineBytes: maximumLineBytes) }

    /// Returns the next line and removes it from the input; `nil` if the input is used up.
    package mutating func next(
        in input: inout UnsafeRawBufferPointer
    ) throws(RequestError) -> Data? {
        let inputEnd = input.baseAddress.map { UInt(bitPattern: $0) + UInt(input.count) } ?? 0
        // The next input may be in the same memory.
        defer { if input.isEmpty { block = Block() } }
        switch try lines.find(in: &input) {
        case .needsInput: return nil
        case .input(let line): return slice(line, inputEnd)
        case .pending: return try lines.takePending { Data($0) }
        }
    }

    /// Returns the last line, which has no terminator, after the end of the body.
    package mutating func end() throws(RequestError) -> Data? { try lines.end { Data($0) } }

    private mutating func slice(_ line: UnsafeRawBufferPointer, _ inputEnd: UInt) -> Data {
        guard let start = line.baseAddress, line.count <= Self.blockBytes / 2 else {
            return Data(line)
        }
        let address = UInt(bitPattern: start)
        if address + UInt(line.count) > block.end {
            let count = min(Self.blockBytes, Int(inputEnd - address))
            block = Block(
                start: address, end: address + UInt(count), data: Data(bytes: start, count: count))
        }
        let offset = Int(address - block.start)
        return block.data[offset..<(offset + line.count)]
    }
}
