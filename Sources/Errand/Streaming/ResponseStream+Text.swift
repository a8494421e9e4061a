public import ErrandCore
public import ErrandSystem

extension ResponseStream {
    /// The chunks of the body, as they arrive, after content decoding; none is empty.
    ///
    /// Their boundaries have no meaning. A chunk is what the transport read at once, usually 16 to 256 KiB; a stored
    /// body is one chunk.
    public var bytes: Bytes { Bytes(source: source) }

    /// The lines of the body as text, without their terminators LF, CRLF or CR; at most 1 MiB each.
    ///
    /// A last line needs no terminator. A line that is not UTF-8 is the error ``RequestError/Code/undecodable``.
    public var lines: Lines { lines() }

    /// The lines of the body as text, without their terminators LF, CRLF or CR.
    ///
    /// - Parameters:
    ///   - maximumLineBytes: The maximum length of a line in bytes (default 1 MiB); a longer one is the error
    ///     ``RequestError/Code/bodyTooLarge``.
    ///   - replacesInvalidUTF8: Whether bytes that are not UTF-8 are replaced by U+FFFD. Default false: such a line is
    ///     the error ``RequestError/Code/undecodable``.
    public func lines(
        maximumLineBytes: Int = 1 << 20, replacesInvalidUTF8: Bool = false
    ) -> Lines {
        Lines(
            source: source, maximumLineBytes: maximumLineBytes,
            replacesInvalidUTF8: replacesInvalidUTF8)
    }

    /// The lines of the body as bytes, in any encoding that contains ASCII, without their terminators LF, CRLF or CR; at
    /// most 1 MiB each.
    ///
    /// A line may be a slice: its indices begin at its `startIndex`, not at 0. It keeps up to 4 KiB of the lines beside
    /// it in memory; `Data(Array(line))` is a copy.
    public var rawLines: RawLines { rawLines() }

    /// The lines of the body as bytes, without their terminators LF, CRLF or CR; see ``rawLines``.
    ///
    /// - Parameter maximumLineBytes: The maximum length of a line in bytes (default 1 MiB); a longer one is the error
    ///   ``RequestError/Code/bodyTooLarge``.
    public func rawLines(maximumLineBytes: Int = 1 << 20) -> RawLines {
        RawLines(source: source, maximumLineBytes: maximumLineBytes)
    }

    /// The chunks of a body; see ``ResponseStream/bytes``.
    public struct Bytes: AsyncSequence, Sendable {
        let source: StreamSource

        /// Creates the one iterator.
        public func makeAsyncIterator() -> Iterator { Iterator(reader: StreamReader(source)) }

        /// Reads chunks.
        public struct Iterator: AsyncIteratorProtocol {
            let reader: StreamReader

            /// The next chunk; `nil` at the end of the body.
            public mutating func next() async throws(RequestError) -> Data? {
                try await reader.next()
            }

            /// The next chunk; `nil` at the end of the body.
            public mutating func next(
                isolation actor: isolated (any Actor)?
            ) async throws(RequestError) -> Data? {
                try await reader.next()
            }
        }
    }

    /// The lines of a body as text; see ``ResponseStream/lines(maximumLineBytes:replacesInvalidUTF8:)``.
    public struct Lines: AsyncSequence, Sendable {
        let source: StreamSource
        let maximumLineBytes: Int
        let replacesInvalidUTF8: Bool

        /// Creates the one iterator.
        public func makeAsyncIterator() -> Iterator {
            let parser = TextLines(
                lines: LineParser(maximumLineBytes: maximumLineBytes),
                invalid: replacesInvalidUTF8 ? .replace : .reject)
            return Iterator(ParsedStream(source, parser))
        }

        /// Reads lines.
        public struct Iterator: AsyncIteratorProtocol {
            var stream: ParsedStream<TextLines>
            /// Lines that were parsed before, in reverse order.
            @usableFromInline var parsed: [String] = []

            init(_ stream: ParsedStream<TextLines>) { self.stream = stream }

            /// The next line; `nil` at the end of the body.
            ///
            /// After a line that is not UTF-8, the next call returns the line behind it.
            public mutating func next() async throws(RequestError) -> String? {
                try await next(isolation: #isolation)
            }

            /// The next line; `nil` at the end of the body.
            @inlinable
            public mutating func next(
                isolation actor: isolated (any Actor)?
            ) async throws(RequestError) -> String? {
                if !Task.isCancelled, let line = parsed.popLast() { return line }
                if let line = nextInChunk() { return line }
                return try await nextChunk(isolation: actor)
            }

            @usableFromInline
            mutating func nextInChunk() -> String? {
                // Lines that were parsed before a cancellation are discarded.
                parsed.removeAll(keepingCapacity: true)
                defer { stream.takeAll(into: &parsed) }
                return stream.nextInChunk()
            }

            @usableFromInline
            mutating func nextChunk(
                isolation actor: isolated (any Actor)?
            ) async throws(RequestError) -> String? {
                defer { stream.takeAll(into: &parsed) }
                return try await stream.next()
            }
        }
    }

    /// The lines of a body as bytes; see ``ResponseStream/rawLines(maximumLineBytes:)``.
    public struct RawLines: AsyncSequence, Sendable {
        let source: StreamSource
        let maximumLineBytes: Int

        /// Creates the one iterator.
        public func makeAsyncIterator() -> Iterator {
            let parser = LineSlices(maximumLineBytes: maximumLineBytes)
            return Iterator(ParsedStream(source, parser))
        }

        /// Reads lines.
        public struct Iterator: AsyncIteratorProtocol {
            var stream: ParsedStream<LineSlices>
            /// Lines that were parsed before, in reverse order.
            @usableFromInline var parsed: [Data] = []

            init(_ stream: ParsedStream<LineSlices>) { self.stream = stream }

            /// The next line; `nil` at the end of the body.
            public mutating func next() async throws(RequestError) -> Data? {
                try await next(isolation: #isolation)
            }

            /// The next line; `nil` at the end of the body.
            @inlinable
            public mutating func next(
                isolation actor: isolated (any Actor)?
            ) async throws(RequestError) -> Data? {
                if !Task.isCancelled, let line = parsed.popLast() { return line }
                if let line = nextInChunk() { return line }
                return try await nextChunk(isolation: actor)
            }

            @usableFromInline
            mutating func nextInChunk() -> Data? {
                // Lines that were parsed before a cancellation are discarded.
                parsed.removeAll(keepingCapacity: true)
                defer { stream.takeAll(into: &parsed) }
                return stream.nextInChunk()
            }

            @usableFromInline
            mutating func nextChunk(
                isolation actor: isolated (any Actor)?
            ) async throws(RequestError) -> Data? {
                defer { stream.takeAll(into: &parsed) }
                return try await stream.next()
            }
        }
    }
}

/// Finds lines of text.
struct TextLines: StreamParser {
    var lines: LineParser
    let invalid: LineParser.InvalidUTF8

    /// The allocator of Linux keeps 7 free blocks of a size at hand; more would be slower than more batches.
    static var batchCount: Int { 6 }

    mutating func next(in input: inout UnsafeRawBufferPointer) throws(RequestError) -> String? {
        try lines.nextText(in: &input, invalid: invalid)
    }

    mutating func end() throws(RequestError) -> String? { try lines.endText(invalid: invalid) }
}

extension LineSlices: StreamParser {}
