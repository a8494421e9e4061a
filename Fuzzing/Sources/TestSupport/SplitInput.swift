/// An input of libFuzzer: the number of a check, three lengths of segments, which are used in turn until the end, and a
/// stream of bytes.
public struct SplitInput {
    private static let optionCount = 4

    /// The number of the check, less than 3.
    public let kind: Int
    private let lengths: [Int]
    /// The bytes after the options.
    public let stream: [UInt8]

    /// Takes the options from the first bytes; `nil` if there are too few.
    public init?(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard bytes.count >= Self.optionCount else { return nil }
        kind = Int(bytes[0] % 3)
        lengths = bytes[1..<Self.optionCount].map(Int.init)
        stream = Array(bytes[Self.optionCount...])
    }

    /// The chosen segments.
    public var segments: [[UInt8]] {
        guard lengths.contains(where: { $0 > 0 }) else { return [stream] }
        var segments: [[UInt8]] = []
        var rest = stream[...]
        while !rest.isEmpty {
            let count = lengths[segments.count % lengths.count]
            segments.append(Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        return segments
    }
}
