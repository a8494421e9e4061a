/// An event of an HTTP/2 stream, parsed from a debug text of libcurl.
///
/// libcurl reports these events in no other way.
package enum StreamErrorText: Sendable, Hashable {
    /// The request uses this stream.
    case opened(UInt32)
    /// The server closes the connection and has processed no stream after this one.
    case goAway(last: UInt32)

    /// Parses a text; `nil` if it describes no such event.
    package init?(_ text: UnsafeRawBufferPointer) {
        // libcurl 7.88 writes the first and the third text, with the misspelling; libcurl 8 writes
        // the others.
        if let number = Self.number(in: text, after: "Using Stream ID: ")
            ?? Self.number(in: text, after: "[HTTP/2] [")
        {
            self = .opened(number)
        } else if Self.begins(text, "recveived GOAWAY") || Self.begins(text, "received GOAWAY"),
            let start = Self.end(of: "last_stream=", in: text),
            let number = Self.number(text.dropFirst(start))
        {
            self = .goAway(last: number)
        } else {
            return nil
        }
    }

    private static func number(
        in text: UnsafeRawBufferPointer, after start: StaticString
    ) -> UInt32? {
        begins(text, start) ? number(text.dropFirst(start.utf8CodeUnitCount)) : nil
    }

    /// The number at the start of the text.
    private static func number(_ text: Slice<UnsafeRawBufferPointer>) -> UInt32? {
        let digits = text.prefix { (0x30...0x39).contains($0) }
        return UInt32(String(decoding: digits, as: UTF8.self))
    }

    private static func begins(_ text: UnsafeRawBufferPointer, _ start: StaticString) -> Bool {
        start.withUTF8Buffer { text.starts(with: $0) }
    }

    private static func end(of part: StaticString, in text: UnsafeRawBufferPointer) -> Int? {
        part.withUTF8Buffer { part in
            guard text.count >= part.count else { return nil }
            return (0...(text.count - part.count)).first { start in
                text.dropFirst(start).starts(with: part)
            }
            .map { $0 + part.count }
        }
    }
}
