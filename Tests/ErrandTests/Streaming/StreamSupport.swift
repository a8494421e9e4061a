import Errand
import ErrandTesting
import ErrandTransport
import Foundation
import HTTPTypes
import Testing

/// A streamed `GET /feed`.
final class Feed: BaseRequest {
    override var url: EndpointURL { "feed" }
}

extension ScriptedResponse {
    private static let plain: HTTPFields = [.contentType: "text/plain"]

    /// A response of type `text/plain` with status 200 and the given steps after its head.
    static func stream(_ steps: Step...) -> ScriptedResponse { .stream(plain, steps) }

    static func stream(_ steps: [Step]) -> ScriptedResponse { .stream(plain, steps) }

    static func stream(length: Int64, _ steps: Step...) -> ScriptedResponse {
        .stream(plain, length: length, steps)
    }

    static func stream(_ headers: HTTPFields, _ steps: Step...) -> ScriptedResponse {
        .stream(headers, steps)
    }

    static func stream(
        _ headers: HTTPFields, length: Int64? = nil, _ steps: [Step]
    ) -> ScriptedResponse {
        let head = ResponseHead(
            status: .ok, headers: headers, httpVersion: .http11, contentLength: length)
        return ScriptedResponse(steps: [.head(head)] + steps)
    }
}

extension ScriptedResponse.Step {
    static func text(_ text: String) -> Self { .bytes(Data(text.utf8)) }

    static var interruption: Self {
        .fail(RequestError(.connectionLost, stage: .transport, "Lost."))
    }
}

/// The bytes that a reader got, and the error after them.
struct StreamReading: Sendable {
    var bytes = Data()
    var chunks = 0
    var error: RequestError?
    var text: String { String(decoding: bytes, as: UTF8.self) }
}

extension ResponseStream {
    /// Reads the body to its end.
    func readToEnd() async -> StreamReading {
        var reading = StreamReading()
        do throws(RequestError) {
            for try await chunk in bytes {
                reading.bytes += chunk
                reading.chunks += 1
            }
        } catch {
            reading.error = error
        }
        return reading
    }
}

extension AgentFixture {
    /// Scripts `GET /feed`, and streams it.
    func feed(_ steps: ScriptedResponse.Step...) async throws -> ResponseStream {
        transport.on(.get, "/feed", .stream(steps))
        return try await Feed().stream(on: agent)
    }

    /// The error of a stream that does not reach its head.
    func refusal(_ request: BaseRequest) async -> RequestError? {
        do throws(RequestError) {
            _ = try await request.stream(on: agent)
            return nil
        } catch {
            return error
        }
    }

    /// Waits for the end of a task; it must be the only one, with one `ended` event, and leave nothing behind.
    func expectOneEnd(_ task: RequestTask, _ code: RequestError.Code?) async throws {
        let error = await task.outcome().error
        #expect(error?.code == code)
        #expect(task.phase == .ended)
        try await transport.untilIdle()
        #expect(agent.activeTasks.isEmpty && transport.inFlight == 0)
        let ends = events.events.compactMap { event -> RequestError.Code?? in
            if case .ended(let error) = event.kind { .some(error?.code) } else { nil }
        }
        #expect(ends == [code])
    }
}

extension AgentFixture {
    /// Waits until a task has received a number of bytes.
    func untilReceived(_ count: Int64, _ task: RequestTask) async throws {
        for await progress in task.progress where progress.bytesReceived >= count { return }
    }
}
