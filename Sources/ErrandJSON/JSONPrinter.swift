/// Serializes values without recursion.
enum JSONPrinter {
    /// The layout of the text.
    struct Style {
        var isPretty = false
        var sortsKeys = false
        var escapesSlashes = false
        /// Whether to use the layout of `JSONEncoder`: a space before colons, and an empty line in
        /// empty containers.
        var isFoundations = false

        var colon: StaticString {
            if isPretty { return isFoundations ? " : " : ": " }
            return ":"
        }
    }

    /// An open container and its remaining values.
    private struct Frame {
        var isObject: Bool
        var isFirst = true
        var place: Int
        var stop: Int
        /// The indexes of an object's keys in reverse sorted order; nil if members are not sorted.
        var sorted: [Int]?

        mutating func next(in tape: Tape) -> Int? {
            if sorted != nil { return sorted?.popLast() }
            guard place < stop else { return nil }
            let current = place
            place = tape.end(of: isObject ? current + 1 : current)
            return current
        }
    }

    /// Writes `json`; an absent value is written as `null`.
    static func print(_ json: JSON, to sink: ByteSink, style: Style = Style()) {
        let tape = json.tape
        var frames: [Frame] = []
        open(tape, json.index, &frames, sink, style)
        while var frame = frames.popLast() {
            guard let place = frame.next(in: tape) else {
                if frame.isFirst, style.isFoundations { newLine(0, sink, style) }
                if !frame.isFirst || style.isFoundations { newLine(frames.count, sink, style) }
                sink.write(frame.isObject ? UInt8(ascii: "}") : UInt8(ascii: "]"))
                continue
            }
            if !frame.isFirst { sink.write(UInt8(ascii: ",")) }
            frame.isFirst = false
            frames.append(frame)
            newLine(frames.count, sink, style)
            if frame.isObject {
                scalar(tape, place, sink, style)
                sink.write(style.colon)
                open(tape, place + 1, &frames, sink, style)
            } else {
                open(tape, place, &frames, sink, style)
            }
        }
    }

    /// Writes a scalar, or the opening bracket of a container and adds a frame for it.
    private static func open(
        _ tape: Tape, _ index: Int, _ frames: inout [Frame], _ sink: ByteSink, _ style: Style
    ) {
        let kind = tape.kind(at: index)
        guard kind == .array || kind == .object else {
            return scalar(tape, index, sink, style)
        }
        let isObject = kind == .object
        sink.write(isObject ? UInt8(ascii: "{") : UInt8(ascii: "["))
        var frame = Frame(
            isObject: isObject, place: index + 2, stop: Word.end(tape.words[index + 1]))
        if isObject, style.sortsKeys { frame.sorted = sortedKeys(tape, frame) }
        frames.append(frame)
    }

    private static func scalar(_ tape: Tape, _ index: Int, _ sink: ByteSink, _ style: Style) {
        switch tape.kind(at: index) {
        case .string where !style.escapesSlashes:
            sink.write(UInt8(ascii: "\""))
            sink.write(tape.text(at: index))
            sink.write(UInt8(ascii: "\""))
        case .string, .escaped:
            tape.unescapedBytes(at: index).withUnsafeBufferPointer {
                sink.write(quoted: $0, escapesSlashes: style.escapesSlashes)
            }
        case .absent:
            sink.write("null")
        default:
            sink.write(tape.text(at: index))
        }
    }

    private static func sortedKeys(_ tape: Tape, _ frame: Frame) -> [Int] {
        var frame = frame
        var keys: [(place: Int, text: [UInt8])] = []
        while let place = frame.next(in: tape) {
            keys.append((place, tape.unescapedBytes(at: place)))
        }
        // The reverse of a stable order, so that repeated keys keep their order.
        keys.sort { left, right in
            if left.text == right.text { return left.place > right.place }
            return right.text.lexicographicallyPrecedes(left.text)
        }
        return keys.map(\.place)
    }

    private static func newLine(_ depth: Int, _ sink: ByteSink, _ style: Style) {
        guard style.isPretty else { return }
        sink.write("\n")
        for _ in 0..<depth { sink.write("  ") }
    }
}

extension JSON: CustomStringConvertible {
    /// The value as compact JSON text; the word `absent` for an absent value.
    public var description: String {
        exists ? String(decoding: serialized(), as: UTF8.self) : "absent"
    }

    /// Serializes the value as JSON text in UTF-8.
    ///
    /// Numbers keep their text. Members keep their order unless `sortedKeys` is set, which sorts
    /// them by the UTF-8 of their keys. An absent value is written as `null`.
    ///
    /// - Parameters:
    ///   - pretty: Whether each value is on its own line, indented by two spaces per level. Off by
    ///     default.
    ///   - sortedKeys: Whether members are sorted. Off by default.
    public func serialized(pretty: Bool = false, sortedKeys: Bool = false) -> [UInt8] {
        ByteSink.with { sink in
            JSONPrinter.print(
                self, to: sink, style: .init(isPretty: pretty, sortsKeys: sortedKeys))
            return sink.bytes
        }
    }
}
