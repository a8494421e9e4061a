public import ErrandCore

extension ResponseStream {
    /// The values of a body with one JSON text on each line (JSON Lines, NDJSON); blank lines are skipped.
    ///
    ///     for try await row in try await Export().stream().jsonLines(of: Row.self) { … }
    ///
    /// Values are decoded with the endpoint's ``RequestDescription/json``, or else the configuration's. A line that
    /// cannot be decoded is the error ``RequestError/Code/undecodable``, which names the line and the path in it.
    ///
    /// - Parameters:
    ///   - type: The type of the values.
    ///   - maximumLineBytes: The maximum length of a line in bytes (default 1 MiB); a longer one is the error
    ///     ``RequestError/Code/bodyTooLarge``.
    public func jsonLines<Value: Decodable>(
        of type: Value.Type, maximumLineBytes: Int = 1 << 20
    ) -> JSONValues<Value> {
        JSONValues(source: source, format: .lines(maximumLineBytes))
    }

    /// The values of a JSON text sequence (`application/json-seq`, RFC 7464).
    ///
    /// - Parameters:
    ///   - type: The type of the values.
    ///   - maximumTextBytes: The maximum size of a JSON text in bytes (default 1 MiB); a larger one is the error
    ///     ``RequestError/Code/bodyTooLarge``.
    public func jsonSequence<Value: Decodable>(
        of type: Value.Type, maximumTextBytes: Int = 1 << 20
    ) -> JSONValues<Value> {
        JSONValues(source: source, format: .sequence(maximumTextBytes))
    }

    /// The elements of an array in a JSON document, which can be larger than memory.
    ///
    ///     for try await item in try await Dump().stream().jsonElements(of: Item.self, at: "$.items[*]") { … }
    ///
    /// - Parameters:
    ///   - type: The type of the elements.
    ///   - path: The members from the document to the array, as in JSONPath (RFC 9535): `$[*]`, `$.items[*]` or
    ///     `$['a b'].items[*]`. Another form is the error ``RequestError/Code/unsupported`` of the first read.
    ///   - maximumElementBytes: The maximum size of an element in bytes (default 1 MiB); a larger one is the error
    ///     ``RequestError/Code/bodyTooLarge``.
    public func jsonElements<Value: Decodable>(
        of type: Value.Type, at path: String = "$[*]", maximumElementBytes: Int = 1 << 20
    ) -> JSONValues<Value> {
        JSONValues(source: source, format: .elements(path, maximumElementBytes))
    }

    /// The JSON values of a body.
    ///
    /// See ``ResponseStream/jsonLines(of:maximumLineBytes:)``,
    /// ``ResponseStream/jsonSequence(of:maximumTextBytes:)`` and
    /// ``ResponseStream/jsonElements(of:at:maximumElementBytes:)``.
    public struct JSONValues<Value: Decodable>: AsyncSequence, Sendable {
        let source: StreamSource
        let format: JSONStreamFormat

        /// Creates the one iterator.
        public func makeAsyncIterator() -> Iterator {
            Iterator(
                stream: ParsedStream(source, JSONStreamParser(format, decoder: source.decoder)))
        }

        /// Reads values.
        public struct Iterator: AsyncIteratorProtocol {
            var stream: ParsedStream<JSONStreamParser<Value>>

            /// The next value; `nil` at the end of the body.
            ///
            /// After a value that cannot be decoded, the next call returns the value behind it.
            public mutating func next() async throws(RequestError) -> Value? {
                try await stream.next()
            }

            /// The next value; `nil` at the end of the body.
            public mutating func next(
                isolation actor: isolated (any Actor)?
            ) async throws(RequestError) -> Value? {
                if let element = stream.nextInChunk() { return element }
                return try await stream.next()
            }
        }
    }
}

/// The form in which a body contains JSON values, with the maximum size of one.
enum JSONStreamFormat: Sendable {
    case lines(Int)
    case sequence(Int)
    case elements(String, Int)
}

/// Decodes the JSON values of a body.
struct JSONStreamParser<Value: Decodable>: StreamParser {
    private enum Parser {
        case lines(JSONLinesParser)
        case sequence(JSONSequenceParser)
        case elements(JSONElementScanner)
        case invalid(RequestError)
    }

    private var parser: Parser
    private let decoder: JSONReader

    init(_ format: JSONStreamFormat, decoder: JSONReader) {
        self.decoder = decoder
        switch format {
        case .lines(let limit):
            parser = .lines(JSONLinesParser(maximumLineBytes: limit, decoder: decoder))
        case .sequence(let limit):
            parser = .sequence(JSONSequenceParser(maximumTextBytes: limit))
        case .elements(let path, let limit):
            do throws(RequestError) {
                let path = try JSONElementPath(path)
                parser = .elements(JSONElementScanner(path: path, maximumElementBytes: limit))
            } catch {
                parser = .invalid(error)
            }
        }
    }

    mutating func next(in input: inout UnsafeRawBufferPointer) throws(RequestError) -> Value? {
        switch parser {
        case .lines(var lines):
            // The parser is taken out of the enumeration, so that its buffers are not copied.
            parser = .invalid(.cancelled)
            defer { parser = .lines(lines) }
            return try lines.next(Value.self, in: &input)
        case .sequence(var sequence):
            parser = .invalid(.cancelled)
            defer { parser = .sequence(sequence) }
            return try sequence.next(Value.self, in: &input, decoder: decoder)?.get()
        case .elements(var elements):
            parser = .invalid(.cancelled)
            defer { parser = .elements(elements) }
            return try elements.next(Value.self, in: &input, decoder: decoder)
        case .invalid(let error): throw error
        }
    }

    mutating func end() throws(RequestError) -> Value? {
        switch parser {
        case .lines(var lines):
            defer { parser = .lines(lines) }
            return try lines.end(Value.self)
        case .sequence(var sequence):
            defer { parser = .sequence(sequence) }
            return try sequence.end(Value.self, decoder: decoder)?.get()
        case .elements(var elements):
            defer { parser = .elements(elements) }
            try elements.end()
            return nil
        case .invalid(let error): throw error
        }
    }
}
