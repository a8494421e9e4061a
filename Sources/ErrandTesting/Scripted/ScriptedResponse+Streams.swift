public import ErrandSystem
public import ErrandTransport

// Responses whose body arrives in pieces.
extension ScriptedResponse {
    /// Creates a response whose body arrives in chunks.
    ///
    ///     let next = Gate()
    ///     transport.on(.get, "/log", .stream(chunks: ["one\n", "two\n"].map { Data($0.utf8) }, gates: [next]))
    ///
    /// - Parameters:
    ///   - status: The status. Default 200.
    ///   - headers: The headers, in order. Default none.
    ///   - chunks: The chunks of the body; empty ones are not delivered.
    ///   - gates: The gates after the chunks, in order: the response waits at the first gate after the first chunk. A
    ///     gate after the last chunk delays the end. Default none.
    ///   - trailers: The trailer fields. Default none.
    public static func stream(
        status: HTTPResponse.Status = .ok, headers: HTTPFields = [:], chunks: [Data],
        gates: [Gate] = [], trailers: HTTPFields = [:]
    ) -> Self {
        let head = ResponseHead(status: status, headers: headers, httpVersion: .http11)
        var response = ScriptedResponse(steps: [.head(head)])
        for index in 0..<max(chunks.count, gates.count) {
            if index < chunks.count, !chunks[index].isEmpty {
                response.steps.append(.bytes(chunks[index]))
            }
            if index < gates.count { response.steps.append(.hold(gates[index])) }
        }
        response.trailers = trailers
        return response
    }

    /// Creates a response of server-sent events, with the content type `text/event-stream`.
    ///
    ///     transport.on(.get, "/events", .events(["data: one", "id: 2\ndata: two"], gates: [next]))
    ///
    /// - Parameters:
    ///   - events: The lines of each event; the blank line that ends the event is added. Each event is one chunk.
    ///   - headers: Further headers. Default none.
    ///   - gates: The gates after the events, in order, as in ``stream(status:headers:chunks:gates:trailers:)``. A gate
    ///     after the last event keeps the stream open. Default none.
    public static func events(
        _ events: [String], headers: HTTPFields = [:], gates: [Gate] = []
    ) -> Self {
        var headers = headers
        if headers[.contentType] == nil { headers[.contentType] = "text/event-stream" }
        return stream(headers: headers, chunks: events.map(EventText.bytes), gates: gates)
    }

    /// The same response with its body split into pieces.
    ///
    /// - Parameter count: The number of bytes after which a piece ends, counted from the beginning of each step; at
    ///   least 1.
    public func split(everyBytes count: Int) -> Self {
        let size = max(1, count)
        var copy = self
        copy.steps = steps.flatMap { step in
            guard case .bytes(let data) = step, data.count > size else { return [step] }
            return stride(from: 0, to: data.count, by: size).map { offset in
                .bytes(Data(data.dropFirst(offset).prefix(size)))
            }
        }
        return copy
    }

    /// The same response, interrupted by an error.
    ///
    /// - Parameters:
    ///   - count: The number of bytes of the body to deliver before. If the body has fewer, the error is its end.
    ///   - error: The error. Default: ``RequestError/Code/connectionLost``.
    public func failing(
        afterBytes count: Int,
        with error: RequestError = RequestError(
            .connectionLost, stage: .transport, "The connection was lost.")
    ) -> Self {
        var copy = self
        copy.steps = []
        var left = max(0, count)
        for step in steps {
            switch step {
            case .bytes(let data):
                if left > 0, !data.isEmpty { copy.steps.append(.bytes(Data(data.prefix(left)))) }
                left = max(0, left - data.count)
            default: copy.steps.append(step)
            }
            if left == 0, copy.hasHead { break }
        }
        copy.steps.append(.fail(error))
        return copy
    }

    private var hasHead: Bool {
        steps.contains { if case .head = $0 { true } else { false } }
    }
}

/// The text of server-sent events.
enum EventText {
    /// An event from its lines, with the blank line that ends it.
    static func bytes(_ lines: String) -> Data { Data((lines + "\n\n").utf8) }
}
