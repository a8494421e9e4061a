import Dispatch
import Errand
import ErrandTesting
import Foundation
import TestSupport
import Testing

/// Starts with one closure for both outcomes.
@Suite(.limited) struct CompletionTests {
    private let fixture = AgentFixture()

    init() {
        fixture.transport.on(.get, "/users", .json(#"{"nick":"a","level":3}"#))
        fixture.transport.on(.get, "/x", .json("{}"))
        fixture.transport.on(.get, "/bad", .json("{}", status: .badRequest))
        fixture.transport.on(.get, "/slow", .silence)
    }

    @Test func queueReceivesTheOutputOfATypedEndpoint() async throws {
        let user = await withCheckedContinuation { continuation in
            fixture.with(GetUser(id: 1)).start(on: .global()) { result in
                continuation.resume(returning: result)
            }
        }
        #expect(try user.get() == User(nick: "a", level: 3))
    }

    @Test func queueReceivesTheResponseIfTheClosureNamesIt() async throws {
        let response = await withCheckedContinuation { continuation in
            fixture.with(GetUser(id: 1)).start(on: .global()) {
                (result: Result<Response, RequestError>) in
                continuation.resume(returning: result)
            }
        }
        #expect(try response.get().json["nick"].string == "a")
    }

    @Test func queueReceivesTheErrorOfATypedEndpoint() async throws {
        fixture.transport.on(.get, "/users", .json(#"{"nick":7}"#))
        let result = await withCheckedContinuation { continuation in
            fixture.agent.start(GetUser(id: 1), on: .global()) {
                continuation.resume(returning: $0)
            }
        }
        let error = #expect(throws: RequestError.self) { try result.get() }
        #expect(error?.code == .undecodable)
    }

    @Test @MainActor func completionReceivesRequestAndOutput() async throws {
        let request = fixture.with(GetUser(id: 1))
        let result = await withCheckedContinuation { continuation in
            request.start { user, result in
                #expect(user === request && user.output?.nick == "a")
                continuation.resume(returning: result)
            }
        }
        #expect(try result.get().level == 3)
    }

    @Test @MainActor func completionReceivesTheResponseOfAPlainEndpoint() async throws {
        let result = await withCheckedContinuation { continuation in
            fixture.with(Plain("x")).start { plain, result in
                #expect(plain.path == "x")
                continuation.resume(returning: result)
            }
        }
        #expect(try result.get().status == .ok)
    }

    @Test @MainActor func completionReceivesFailureAndCancellation() async throws {
        let failed = await withCheckedContinuation { continuation in
            fixture.with(Plain("bad")).start { _, result in continuation.resume(returning: result) }
        }
        let error = #expect(throws: RequestError.self) { try failed.get() }
        #expect(error?.code == .unacceptableStatus)
        let cancelled = await withCheckedContinuation { continuation in
            fixture.with(Plain("slow")).start { _, result in
                continuation.resume(returning: result)
            }.cancel()
        }
        let other = #expect(throws: RequestError.self) { try cancelled.get() }
        #expect(other?.isCancellation == true)
    }

    @Test @MainActor func completionIsCalledInTheOrderOfDelivery() async {
        let log = CallbackLog()
        let request = fixture.with(RecordingRequest("x", log: log))
        request.attach { _ in log.lines.append("attached") }
        await withCheckedContinuation { continuation in
            request.start { _, _ in
                log.lines.append("completion")
                Task { continuation.resume() }
            }
        }
        #expect(
            log.lines == [
                "willStart accessory", "willStart", "willStop accessory", "didFinish",
                "delegate finished", "attached", "completion", "didStop accessory",
            ])
    }

    @Test @MainActor func completionIsCalledAfterProgress() async {
        var updates = 0
        let request = fixture.with(Plain("x")).onProgress { _, _ in updates += 1 }
        await withCheckedContinuation { continuation in
            request.start { _, _ in continuation.resume() }
        }
        #expect(updates >= 1)
    }
}
