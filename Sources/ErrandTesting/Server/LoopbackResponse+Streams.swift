public import ErrandSystem

// Responses whose body is sent in pieces.
extension LoopbackResponse {
    /// A response in chunked transfer coding that waits between its chunks.
    ///
    /// - Parameters:
    ///   - status: The status. Default 200.
    ///   - headers: Header lines in order, duplicates allowed. Default none.
    ///   - chunks: The chunks; empty ones are not sent.
    ///   - gates: The gates after the chunks, in order: the server waits at the first gate after the first chunk. A
    ///     gate after the last chunk delays the end of the body and keeps the connection open.
    ///   - trailers: The trailers after the last chunk. Default none.
    public static func chunked(
        status: Int = 200, headers: KeyValuePairs<String, String> = [:], _ chunks: [Data],
        gates: [Gate], trailers: KeyValuePairs<String, String> = [:]
    ) -> Self {
        var response = chunked(status: status, headers: headers, [], trailers: trailers)
        let end = response.steps.removeLast()
        for index in 0..<max(chunks.count, gates.count) {
            if index < chunks.count, !chunks[index].isEmpty {
                response.steps.append(.body(chunk(chunks[index])))
            }
            if index < gates.count { response.steps.append(.hold(gates[index])) }
        }
        response.steps.append(end)
        return response
    }

    /// A response of server-sent events in chunked transfer coding, with the content type `text/event-stream`.
    ///
    ///     server.route("/events") { _ in .events(["data: one", "id: 2\ndata: two"], gates: [next, last]) }
    ///
    /// - Parameters:
    ///   - events: The lines of each event; the blank line that ends the event is added. Each event is one chunk.
    ///   - gates: The gates after the events, in order, as in ``chunked(status:headers:_:gates:trailers:)``. A gate
    ///     after the last event keeps the connection open. Default none.
    public static func events(_ events: [String], gates: [Gate] = []) -> Self {
        chunked(
            headers: ["Content-Type": "text/event-stream", "Cache-Control": "no-store"],
            events.map(EventText.bytes), gates: gates)
    }
}
