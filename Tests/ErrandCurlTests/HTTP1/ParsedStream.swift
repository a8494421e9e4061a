import ErrandTransport
import HTTPTypes

@testable import ErrandCurl

/// What a parser makes of the bytes of one connection, in a form that can be compared.
struct ParsedStream: Equatable, CustomStringConvertible {
    enum Outcome: Equatable {
        /// The bytes end before the response does.
        case incomplete
        case complete(keepsConnection: Bool)
        case switched(rest: [UInt8])
        case failed(ResponseFault)
    }

    /// Status, version and fields of each head.
    var heads: [String] = []
    var body: [UInt8] = []
    var trailers: [String] = []
    var outcome = Outcome.incomplete
    /// The number of bytes of heads and trailers.
    var headBytes: Int64 = 0

    var text: String { String(decoding: body, as: UTF8.self) }

    var description: String { "\(heads) \(text) \(trailers) \(outcome) \(headBytes)" }

    /// Parses bytes that arrive in these segments on a new connection.
    ///
    /// - Parameter ends: Whether the server closes the connection after the last segment.
    init(
        _ segments: [ArraySlice<UInt8>], isHead: Bool = false, acceptsUpgrade: Bool = false,
        limit: Int = 1 << 16, ends: Bool = false, cache: inout FieldCache
    ) {
        var parser = ResponseParser()
        self.init(
            segments, isHead: isHead, acceptsUpgrade: acceptsUpgrade, limit: limit, ends: ends,
            parser: &parser, cache: &cache)
    }

    /// Parses bytes that arrive in these segments on the connection of this parser.
    ///
    /// If the connection cannot be used again, the parser is replaced by a new one.
    init(
        _ segments: [ArraySlice<UInt8>], isHead: Bool = false, acceptsUpgrade: Bool = false,
        limit: Int = 1 << 16, ends: Bool = false, parser: inout ResponseParser,
        cache: inout FieldCache
    ) {
        parser.begin(isHead: isHead, acceptsUpgrade: acceptsUpgrade, limit: limit)
        for segment in segments {
            Array(segment).withUnsafeBytes { bytes in
                var input = UnsafeRawBufferPointer(rebasing: bytes[...])
                while take(parser.next(&input, cache: &cache), rest: input) {}
                if case .switched(let rest) = outcome {
                    outcome = .switched(rest: rest + input)
                }
            }
        }
        if ends, outcome == .incomplete {
            _ = take(parser.endOfInput(), rest: UnsafeRawBufferPointer(start: nil, count: 0))
        }
        headBytes = parser.headBytes
        if outcome != .complete(keepsConnection: true) { parser = ResponseParser() }
    }

    /// Parses text whose scalars are bytes, split before each of these indices.
    init(
        _ text: String, splitAt indices: [Int] = [], isHead: Bool = false,
        acceptsUpgrade: Bool = false, limit: Int = 1 << 16, ends: Bool = false
    ) {
        let bytes = text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
        var cache = FieldCache()
        self.init(
            Self.segments(bytes, splitAt: indices), isHead: isHead, acceptsUpgrade: acceptsUpgrade,
            limit: limit, ends: ends, cache: &cache)
    }

    static func segments(_ bytes: [UInt8], splitAt indices: [Int]) -> [ArraySlice<UInt8>] {
        let bounds = [0] + indices + [bytes.count]
        return zip(bounds, bounds.dropFirst()).map { bytes[$0..<$1] }
    }

    /// Records an event; returns whether the parser may have another one.
    private mutating func take(
        _ event: ResponseParser.Event, rest: UnsafeRawBufferPointer
    ) -> Bool {
        switch event {
        case .needsInput: return false
        case .interim(let head), .head(let head):
            heads.append(Self.text(head))
            return true
        case .switchedProtocols(let head):
            heads.append(Self.text(head))
            outcome = .switched(rest: [])
            return false
        case .body(let bytes):
            body.append(contentsOf: bytes)
            return true
        case .complete(let end):
            trailers = end.trailers.map(Self.text)
            outcome = .complete(keepsConnection: end.keepsConnection)
            return true
        case .failed(.unsolicitedData):
            // Bytes after a complete response, in its last segment or in a later one.
            outcome = .complete(keepsConnection: false)
            return false
        case .failed(let fault):
            outcome = .failed(fault)
            return false
        }
    }

    static func text(_ head: HeadParser.Head) -> String {
        ([head.status.code.description, head.version.rawValue] + head.fields.map(text))
            .joined(separator: "|")
    }

    static func text(_ field: HTTPField) -> String {
        field.withUnsafeBytesOfValue { "\(field.name.rawName)=\(Array($0))" }
    }
}

extension NaiveParser.Result {
    /// The result of `ResponseParser` in the form of the second parser.
    init(_ stream: ParsedStream) {
        heads = stream.heads
        body = stream.body
        trailers = stream.trailers
        headBytes = Int(stream.headBytes)
        switch stream.outcome {
        case .incomplete: outcome = "incomplete"
        case .switched(let rest):
            outcome = "switched"
            self.rest = rest
        case .complete(let keeps): outcome = keeps ? "keeps" : "closes"
        case .failed(.head), .failed(.malformedTrailer): outcome = "head"
        case .failed(let fault): outcome = "\(fault)"
        }
    }
}
