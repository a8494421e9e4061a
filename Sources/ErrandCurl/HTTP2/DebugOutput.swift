/// What the transport reads from libcurl's debug function.
///
/// libcurl calls the function only with verbose output, which costs time.
struct DebugOutput {
    var firstLine = FirstLineWatch()
    var streams = StreamWatch()

    /// Whether verbose output is needed.
    var isNeeded: Bool { firstLine.isActive || streams.isActive }
}

/// Watches the first line after each status line.
///
/// libcurl before 8.1.0 joins a line that starts with white space to the line before it. For the
/// first line after a status line, that is a line of the handle's previous transfer, whose memory is
/// freed (https://github.com/curl/curl/issues/11101). libcurl does so before it calls any callback
/// except the debug function. So the debug function inspects the first line of each head and removes
/// the white space.
struct FirstLineWatch {
    /// Whether the next line is inspected.
    private(set) var isActive = false
    /// Whether a first line began with white space; the head is malformed.
    private(set) var hasFold = false

    /// Records which line follows; returns whether ``isActive`` has changed.
    ///
    /// The version in the status line does not matter, because the server chooses it. Over HTTP/2
    /// libcurl generates the lines itself.
    mutating func expectLine(isFirst: Bool, isHTTP2: Bool) -> Bool {
        let isWatched = isFirst && !isHTTP2
        guard isWatched != isActive else { return false }
        isActive = isWatched
        return true
    }

    /// Inspects a line, and replaces white space at its start.
    mutating func inspect(_ line: UnsafeMutableRawBufferPointer) {
        guard isActive, line.count > 0, line[0] == 0x20 || line[0] == 0x09 else { return }
        line[0] = UInt8(ascii: "_")
        hasFold = true
    }
}

/// Watches the streams and GOAWAY frames of an HTTP/2 connection, for one request.
///
/// If a GOAWAY leaves no stream on the connection, libcurl 7.88 does not process the streams'
/// results. But it reports the frame, and the number of each stream, to its debug function.
struct StreamWatch {
    private(set) var isActive = false
    /// The stream of the request; 0 if unknown.
    private var stream: UInt32 = 0
    /// The last stream that the server has processed.
    private var last: UInt32?

    /// Records that the request is about to be sent; returns whether ``isActive`` has changed.
    mutating func requestStarts(isWatched: Bool) -> Bool {
        stream = 0
        last = nil
        guard isWatched, !isActive else { return false }
        isActive = true
        return true
    }

    /// Records an event; returns the last processed stream if the event is a GOAWAY.
    mutating func record(_ event: StreamEvent) -> UInt32? {
        switch event {
        case .opened(let number):
            stream = number
            return nil
        case .goAway(let number):
            last = number
            return number
        }
    }

    /// Whether the server closed the connection without processing this request.
    ///
    /// - Parameter reported: The last stream that the server has processed according to a GOAWAY
    ///   that another transfer of the connection has read.
    func isBeyondGoAway(reported: @autoclosure () -> UInt32?) -> Bool {
        guard isActive, stream > 0, let last = last ?? reported() else { return false }
        return stream > last
    }
}

/// An event of an HTTP/2 stream, parsed from a debug text of libcurl.
///
/// libcurl reports these events in no other way.
package enum StreamEvent: Sendable, Hashable {
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
