import Errand
import ErrandTesting
import ErrandTransport
import Foundation
import Testing

extension ScriptedResponse {
    /// A response whose body arrives in these chunks, without `Content-Length`.
    static func chunks(
        _ chunks: [Data], type: String? = "text/plain", status: HTTPResponse.Status = .ok,
        then last: [Step] = []
    ) -> ScriptedResponse {
        var headers: HTTPFields = [:]
        if let type { headers[.contentType] = type }
        let head = ResponseHead(status: status, headers: headers, httpVersion: .http11)
        return ScriptedResponse(steps: [.head(head)] + chunks.map { .bytes($0) } + last)
    }

    /// A response that asks for no further connection.
    static var noContent: ScriptedResponse { ScriptedResponse(status: .noContent) }

    /// A response with an event stream, which the server ends or the steps continue.
    static func events(_ text: String, then last: [Step] = []) -> ScriptedResponse {
        chunks(text.isEmpty ? [] : [Data(text.utf8)], type: "text/event-stream", then: last)
    }
}

/// The elements of a sequence, and the error that ended it.
struct Elements<Element> {
    var values: [Element] = []
    var error: RequestError?
}

extension Elements: Sendable where Element: Sendable {}
extension Elements: Equatable where Element: Equatable {
    static func == (left: Self, right: Self) -> Bool {
        left.values == right.values && left.error?.code == right.error?.code
            && left.error?.message == right.error?.message
    }
}

/// Reads a sequence to its end.
func read<Sequence: AsyncSequence>(
    _ sequence: Sequence
) async -> Elements<Sequence.Element> where Sequence.Failure == RequestError {
    var elements = Elements<Sequence.Element>()
    do {
        for try await element in sequence { elements.values.append(element) }
    } catch {
        elements.error = error
    }
    return elements
}

extension AgentFixture {
    /// Opens a stream of `GET /x` whose body arrives in these chunks.
    func stream(
        _ chunks: [Data], type: String? = "text/plain",
        _ describe: (inout RequestDescription) -> Void = { _ in }
    ) async throws(RequestError) -> ResponseStream {
        transport.on(.get, "/x", .chunks(chunks, type: type))
        return try await InlineRequest("x", describe).stream(on: agent)
    }

    /// Reads a body as a whole and split into two chunks at each byte; all ways must give the same elements.
    ///
    /// - Returns: The elements of the whole body.
    func readInEverySplit<Element: Equatable>(
        _ body: Data, type: String = "text/plain",
        _ read: (ResponseStream) async throws -> Elements<Element>
    ) async throws -> (whole: Elements<Element>, differing: [Int]) {
        let chunks = body.isEmpty ? [] : [body]
        let whole = try await read(try await stream(chunks, type: type))
        var differing: [Int] = []
        for index in body.indices.dropFirst() {
            let split = try await read(
                try await stream([body[..<index], body[index...]].map { Data($0) }, type: type))
            if split != whole { differing.append(index) }
        }
        return (whole, differing)
    }
}

extension AgentFixture {
    /// Reads the events of `GET /x` in a Swift task of its own.
    func startReading(
        _ reconnects: ResponseStream.Reconnects = .automatic,
        _ describe: (inout RequestDescription) -> Void = { _ in }
    ) async throws -> Task<Elements<ServerSentEvent>, Never> {
        try await startReading(InlineRequest("x", describe), reconnects)
    }

    /// Reads the events of an endpoint in a Swift task of its own.
    func startReading(
        _ request: BaseRequest, _ reconnects: ResponseStream.Reconnects = .automatic
    ) async throws -> Task<Elements<ServerSentEvent>, Never> {
        let stream = try await request.stream(on: agent)
        _ = try await transport.nextRequest()
        return Task { await read(stream.serverSentEvents(reconnects: reconnects)) }
    }

    /// Waits until the reader sleeps, and checks that it sleeps for this time.
    func sleep(exactly time: Duration) async throws {
        try await clock.untilSleeping()
        clock.advance(by: time - .milliseconds(1))
        #expect(clock.sleepers == 1)
        // The reader wakes now, and may already sleep again when this returns.
        clock.advance(by: .milliseconds(1))
    }

    /// The `Last-Event-ID` of the next request.
    func nextID() async throws -> String? {
        try await transport.nextRequest().headers[.lastEventID]
    }
}

extension HTTPField.Name {
    /// The ID of the last event that a reconnecting client has received.
    static let lastEventID = HTTPField.Name("Last-Event-ID") ?? .date
}
