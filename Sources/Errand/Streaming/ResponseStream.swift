public import ErrandCore
import ErrandSystem
import Synchronization

/// A response whose body is read while it arrives.
///
///     let stream = try await Chat(prompt).stream()
///     for try await event in stream.serverSentEvents { print(event.data) }
///
/// The head has been received and validated: redirects, credentials, retries and cookies are done. The body is read
/// once, by one of the sequences: ``bytes``, ``lines``, ``rawLines``, ``jsonLines(of:maximumLineBytes:)``,
/// ``jsonSequence(of:maximumTextBytes:)``, ``jsonElements(of:at:maximumElementBytes:)`` or ``serverSentEvents``.
///
/// The transfer waits for its reader. If that stops reading, the server stops sending. A stream keeps at most 512 KiB and
/// one chunk of the transport in memory, and 64 KiB if nothing is read; a stored response is in memory (`URLSessionTransport` on Linux cannot pause a
/// transfer: it keeps what arrives in a file without a name, up to 8 GiB). ``Timeouts/idle`` counts only while the reader
/// waits for bytes; ``Timeouts/total`` always does.
///
/// The transfer ends at once with ``RequestError/Code/cancelled`` if the loop over a sequence is left early, if the Swift
/// task of the loop or ``task`` is cancelled, or if the stream is released unread. (A sequence of server-sent events
/// that has connected again is no longer part of ``task``: cancel its loop.) An interruption is an error of the
/// sequence, after the bytes that had arrived; ``RequestError/bytesReceived`` is their number. It is not retried.
public struct ResponseStream: Sendable {
    /// The head of the response: status, headers and URL; its body is empty.
    public let response: Response
    /// The task of the request, which ends with the body.
    ///
    /// Its `response()` has the trailers and timings.
    public var task: RequestTask { source.task }

    let source: StreamSource

    init(_ opened: OpenedStream, _ run: RequestRun) {
        response = opened.response
        source = StreamSource(opened, run)
    }
}

/// What the sequences of a stream share.
final class StreamSource: Sendable {
    let response: Response
    let body: StreamedBody
    let task: RequestTask
    let agent: RequestAgent
    private let isRead = Atomic(false)

    init(_ opened: OpenedStream, _ run: RequestRun) {
        response = opened.response
        body = opened.body
        task = run.task
        agent = run.agent
    }

    // A copy of the response, for example in an interceptor, does not keep the transfer.
    deinit { body.channel.leave() }

    var description: RequestDescription { task.description }

    /// The decoder of the endpoint, or else of the configuration.
    var decoder: JSONReader {
        description.jsonDecoder?.value ?? .responseDefault
    }

    /// Begins to read the body.
    ///
    /// - Throws: ``RequestError/Code/invalidCombination`` at the second call.
    func begin() throws(RequestError) {
        guard isRead.exchange(true, ordering: .relaxed) else { return }
        throw named(
            .invalidCombination(
                "The stream was read before. Its body is not kept: send the request again."))
    }

    /// An error with the name of the request, its head and the number of bytes received.
    func named(_ error: RequestError) -> RequestError {
        var error = error
        error.name(description, task.configuration)
        if error.response == nil { error.response = response }
        if error.bytesReceived == nil { error.bytesReceived = body.channel.received }
        error.setUserMessage(of: task.configuration)
        return error
    }
}

/// Reads the body of a stream in chunks; the transfer is cancelled when a reader that has begun is released.
final class StreamReader {
    let source: StreamSource
    private var hasBegun = false

    init(_ source: StreamSource) { self.source = source }

    deinit {
        // A reader that was refused, or never used, leaves the stream to the others.
        if hasBegun { source.body.channel.leave() }
    }

    nonisolated(nonsending) func next() async throws(RequestError) -> Data? {
        if !hasBegun {
            try source.begin()
            hasBegun = true
        }
        do throws(RequestError) {
            return try await source.body.channel.next()
        } catch {
            throw error.endpoint == nil ? source.named(error) : error
        }
    }

    /// Cancels the transfer and discards what was not read, unless another reader has begun.
    func cancel() {
        if hasBegun { source.body.channel.leave() }
    }
}

/// Finds the elements of a body; a pure state machine.
protocol StreamParser {
    associatedtype Element

    /// The number of elements that are parsed at once: more cost less, but the first one waits for them.
    static var batchCount: Int { get }

    /// Returns the next element and removes it from the input; `nil` if the input is used up.
    mutating func next(in input: inout UnsafeRawBufferPointer) throws(RequestError) -> Element?

    /// Returns the last element after the end of the body; called until it returns `nil`.
    mutating func end() throws(RequestError) -> Element?
}

extension StreamParser {
    static var batchCount: Int { 64 }
}

/// Passes the chunks of a body to a parser.
struct ParsedStream<Parser: StreamParser> {
    private let reader: StreamReader
    private(set) var parser: Parser
    /// Parsed elements in reverse order, so that they are removed at the end.
    private var elements: [Parser.Element] = []
    /// The error behind these elements.
    private var failure: RequestError?
    private var chunk = Data()
    /// The number of bytes of the chunk that the parser has read.
    private var offset = 0
    private var hasEnded = false

    init(_ source: StreamSource, _ parser: Parser) {
        reader = StreamReader(source)
        self.parser = parser
    }

    /// The next element of the chunk that was read last; without suspension.
    ///
    /// - Returns: `nil` if ``next()`` must be called: for more bytes, an error, or a cancelled task.
    mutating func nextInChunk() -> Parser.Element? {
        guard !Task.isCancelled else { return nil }
        if let element = elements.popLast() { return element }
        guard failure == nil, offset < chunk.count else { return nil }
        parse()
        return elements.popLast()
    }

    /// Exchanges the parsed elements, which are in reverse order, for an empty array.
    mutating func takeAll(into array: inout [Parser.Element]) { swap(&elements, &array) }

    nonisolated(nonsending) mutating func next() async throws(RequestError) -> Parser.Element? {
        while true {
            if Task.isCancelled { cancel() }
            if let element = elements.popLast() { return element }
            if let error = failure.take() { throw reader.source.named(error) }
            if offset < chunk.count {
                parse()
            } else if hasEnded {
                return try finish()
            } else if let next = try await reader.next() {
                (chunk, offset) = (next, 0)
            } else {
                (chunk, offset, hasEnded) = (Data(), 0, true)
            }
        }
    }

    /// Discards everything that was not returned; the reader then throws the cancellation.
    private mutating func cancel() {
        reader.cancel()
        (elements, failure, chunk, offset, hasEnded) = ([], nil, Data(), 0, false)
    }

    /// Parses elements of the chunk.
    private mutating func parse() {
        var (parsed, offset) = (exchange(&elements, with: []), offset)
        // An element that cannot be decoded is consumed, and the next call continues after it.
        let result = chunk.withUnsafeBytes { bytes in
            var input = UnsafeRawBufferPointer(rebasing: bytes[offset...])
            defer { offset = bytes.count - input.count }
            return Result { () throws(RequestError) in
                while parsed.count < Parser.batchCount {
                    guard let element = try parser.next(in: &input) else { return }
                    parsed.append(element)
                }
            }
        }
        parsed.withUnsafeMutableBufferPointer { $0.reverseByMoves() }
        (elements, self.offset) = (parsed, offset)
        if case .failure(let error) = result { failure = error }
        if offset == chunk.count { chunk = Data() }
        if chunk.isEmpty { self.offset = 0 }
    }

    private mutating func finish() throws(RequestError) -> Parser.Element? {
        do throws(RequestError) {
            return try parser.end()
        } catch {
            throw reader.source.named(error)
        }
    }
}

extension UnsafeMutableBufferPointer {
    /// Reverses the elements without a copy of any of them, which would count references.
    fileprivate func reverseByMoves() {
        guard let start = baseAddress else { return }
        var (low, high) = (start, start + count - 1)
        while low < high {
            let element = low.move()
            low.moveInitialize(from: high, count: 1)
            high.initialize(to: element)
            (low, high) = (low + 1, high - 1)
        }
    }
}
