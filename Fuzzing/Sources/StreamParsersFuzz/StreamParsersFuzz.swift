import ErrandHTTP
import ErrandJSON

/// One input of libFuzzer: five bytes of options, and the body of a response.
///
/// The bytes of the options are: the parser, its limit in units of four bytes (255 for 64 KB), and
/// three lengths of chunks, which are used in turn until the end of the body.
private struct FuzzInput {
    static let optionCount = 5

    let kind: StreamElements.Kind
    let limit: Int
    let lengths: [Int]
    let body: [UInt8]

    init?(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard bytes.count >= Self.optionCount else { return nil }
        kind = StreamElements.Kind.allCases[Int(bytes[0]) % StreamElements.Kind.allCases.count]
        limit = bytes[1] == 255 ? 1 << 16 : 4 * Int(bytes[1])
        lengths = bytes[2..<Self.optionCount].map(Int.init)
        body = Array(bytes[Self.optionCount...])
    }

    /// The chunks of the chosen lengths; they may be empty.
    var chosenChunks: [ArraySlice<UInt8>] {
        guard lengths.contains(where: { $0 > 0 }) else { return [body[...]] }
        var chunks: [ArraySlice<UInt8>] = []
        var start = 0
        while start < body.count {
            let end = min(body.count, start + lengths[chunks.count % lengths.count])
            chunks.append(body[start..<end])
            start = end
        }
        return chunks
    }

    /// Ends the process if the results violate a rule.
    func check() {
        let whole = StreamElements(kind, [body[...]], limit: limit)
        for chunks in [chosenChunks, body.indices.map { body[$0...$0] }] {
            let split = StreamElements(kind, chunks, limit: limit)
            require(split == whole, "The result differs in chunks.", "\(whole)", "\(split)")
        }
        if whole.failure == nil { compare(whole) }
    }

    /// Compares a result without an error of the whole body with a second interpretation.
    private func compare(_ whole: StreamElements) {
        switch kind {
        case .lines, .replacedLines, .rawLines:
            let count = whole.elements.count
            require(count == Self.lineCount(of: body), "The number of lines is \(count).")
        case .events:
            let naive = NaiveEventStream(body)
            let events = naive.events.map { "\($0)" }
            require(
                whole.elements == events && whole.lastEventID == naive.lastEventID,
                "The parsers disagree.", "\(whole)", "\(naive)")
        case .elements:
            let text = body.starts(with: [0xEF, 0xBB, 0xBF]) ? body[3...] : body[...]
            let array = try? JSON(parsing: JSONGrammar.withoutSurrogates(text)).array
            require(
                array?.count == whole.elements.count, "The parsers disagree.", "\(whole)",
                "\(array?.count ?? -1)")
        case .jsonLines, .sequence, .items: break
        }
    }

    /// The number of lines that LF, CRLF or CR end, and of an incomplete last one.
    private static func lineCount(of bytes: [UInt8]) -> Int {
        var count = 0
        for (index, byte) in bytes.enumerated() {
            let isPair = byte == 0x0A && index > 0 && bytes[index - 1] == 0x0D
            if byte == 0x0D || byte == 0x0A && !isPair { count += 1 }
        }
        return bytes.last.map { $0 == 0x0A || $0 == 0x0D } ?? true ? count : count + 1
    }

    private func require(_ isTrue: Bool, _ rule: String, _ results: String...) {
        if isTrue { return }
        var lines = ["\(rule) Parser: \(kind), limit: \(limit), lengths: \(lengths)"]
        lines.append(String(decoding: body, as: UTF8.self).debugDescription)
        fatalError((lines + results).joined(separator: "\n"))
    }
}

/// Checks one input; libFuzzer's main function calls it.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    FuzzInput(UnsafeBufferPointer(start: start, count: count))?.check()
    return 0
}
