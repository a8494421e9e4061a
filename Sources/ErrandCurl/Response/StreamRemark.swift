/// What libcurl's texts for people say about HTTP/2 streams, where there is no other way to learn it.
package enum StreamRemark: Sendable, Hashable {
    /// The request has this stream.
    case opened(UInt32)
    /// The server has looked at no stream beyond this one, and takes no more.
    case goAway(last: UInt32)

    /// Reads a text; `nil` for what is about something else.
    package init?(_ text: UnsafeRawBufferPointer) {
        // The second and the fourth are those of libcurl 8.
        if let number = Self.number(in: text, behind: "Using Stream ID: ")
            ?? Self.number(in: text, behind: "[HTTP/2] [")
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
        in text: UnsafeRawBufferPointer, behind start: StaticString
    ) -> UInt32? {
        begins(text, start) ? number(text.dropFirst(start.utf8CodeUnitCount)) : nil
    }

    /// The number at the beginning.
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
