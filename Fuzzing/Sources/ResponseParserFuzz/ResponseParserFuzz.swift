import ErrandTransport

@testable import ErrandCurl

/// One input of libFuzzer: five bytes of options, and the bytes that a server sends.
///
/// The bytes of the options are: three flags, the limit in units of four bytes (255 for 64 KB), and
/// three lengths of segments, which are used in turn until the end of the stream.
private struct FuzzInput {
    static let optionCount = 5

    let isHead: Bool
    let acceptsUpgrade: Bool
    /// Whether the server closes the connection after the last byte.
    let ends: Bool
    let limit: Int
    let lengths: [Int]
    let stream: [UInt8]

    init?(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard bytes.count >= Self.optionCount else { return nil }
        isHead = bytes[0] & 1 != 0
        acceptsUpgrade = bytes[0] & 2 != 0
        ends = bytes[0] & 4 == 0
        limit = bytes[1] == 255 ? 1 << 16 : 4 * Int(bytes[1])
        lengths = bytes[2..<Self.optionCount].map(Int.init)
        stream = Array(bytes[Self.optionCount...])
    }

    /// The indices before which the chosen segments begin; segments may be empty.
    var chosenSplits: [Int] {
        guard lengths.contains(where: { $0 > 0 }) else { return [] }
        var splits: [Int] = []
        var end = 0
        while true {
            end += lengths[splits.count % lengths.count]
            guard end < stream.count else { return splits }
            splits.append(end)
        }
    }

    func parsed(
        splitAt splits: [Int], parser: inout ResponseParser, cache: inout FieldCache
    ) -> ParsedStream {
        ParsedStream(
            ParsedStream.segments(stream, splitAt: splits), isHead: isHead,
            acceptsUpgrade: acceptsUpgrade, limit: limit, ends: ends, parser: &parser,
            cache: &cache)
    }

    /// Ends the process if the parser's results violate a rule.
    func check() {
        // The second and the third run find heads and fields of the first in the cache, and use its
        // parser again if the connection is kept.
        var cache = FieldCache()
        var parser = ResponseParser()
        let whole = parsed(splitAt: [], parser: &parser, cache: &cache)
        for splits in [chosenSplits, Array(1..<max(1, stream.count))] {
            let split = parsed(splitAt: splits, parser: &parser, cache: &cache)
            require(split == whole, "The result differs in splits.", whole, split)
        }
        require(
            (0...Int64(stream.count)).contains(whole.headBytes),
            "There are more bytes of heads than bytes.", whole)
        // One limit for all heads, and one for the trailers.
        require(whole.headBytes <= Int64(2 * limit), "A head exceeds the limit.", whole)
        guard ends else { return }
        let expected = NaiveParser.parse(
            stream, isHead: isHead, acceptsUpgrade: acceptsUpgrade, limit: limit)
        require(
            NaiveParser.Result(whole) == expected, "The parsers disagree.", whole, expected)
    }

    private func require(
        _ isTrue: Bool, _ rule: String, _ results: any CustomStringConvertible...
    ) {
        if isTrue { return }
        var lines = ["\(rule) HEAD: \(isHead), upgrade: \(acceptsUpgrade), ends: \(ends)"]
        lines.append("limit: \(limit), splits: \(chosenSplits)")
        lines.append(String(decoding: stream, as: UTF8.self).debugDescription)
        lines += results.map(\.description)
        fatalError(lines.joined(separator: "\n"))
    }
}

/// Checks one input; libFuzzer's main function calls it.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    FuzzInput(UnsafeBufferPointer(start: start, count: count))?.check()
    return 0
}
