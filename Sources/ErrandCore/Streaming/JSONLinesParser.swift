package import ErrandHTTP
package import ErrandJSON

/// Decodes JSON lines: one JSON text on each line of a stream.
///
/// Lines end at LF; a CR before it is white space of JSON. Empty lines, and lines of white space,
/// are skipped and counted. The caller pulls the values, as from ``LineParser``.
package struct JSONLinesParser: Sendable {
    private var lines: LineParser
    private let decoder: JSONReader

    /// Creates a parser with a limit for the length of a line.
    package init(maximumLineBytes: Int = 1 << 20, decoder: JSONReader = JSONReader()) {
        lines = LineParser(maximumLineBytes: maximumLineBytes, terminator: .lineFeed)
        self.decoder = decoder
    }

    /// The number of the last line that was read, counted from 1; 0 before the first line.
    package var lineNumber: Int { lines.lineNumber }

    /// Decodes the next line and removes it from the input; nil if the input is used up.
    ///
    /// - Throws: ``RequestError/Code/undecodable`` with the number of the line and the path in its
    ///   JSON; the next call decodes the line after it. ``RequestError/Code/bodyTooLarge`` for a
    ///   line above the limit, then at every call.
    package mutating func next<T: Decodable>(
        _ type: T.Type, in input: inout UnsafeRawBufferPointer
    ) throws(RequestError) -> T? {
        let texts = JSONTextDecoder(decoder: decoder)
        while true {
            let number = lines.lineNumber + 1
            let value = try lines.next(in: &input) { line throws(RequestError) in
                try Self.decode(type, line, number, texts)
            }
            guard let value else { return nil }
            if case .some(let value) = value { return value }
        }
    }

    /// Decodes the last line if it has no terminator, after the end of the stream.
    package mutating func end<T: Decodable>(_ type: T.Type) throws(RequestError) -> T? {
        let number = lines.lineNumber + 1
        let texts = JSONTextDecoder(decoder: decoder)
        let value = try lines.end { line throws(RequestError) in
            try Self.decode(type, line, number, texts)
        }
        return value ?? nil
    }

    private static func decode<T: Decodable>(
        _ type: T.Type, _ line: UnsafeRawBufferPointer, _ number: Int, _ texts: JSONTextDecoder
    ) throws(RequestError) -> T? {
        guard !line.allSatisfy(JSONTokenizer.isWhiteSpace) else { return nil }
        return try texts.decode(type, from: line, name: "line \(number)")
    }
}
