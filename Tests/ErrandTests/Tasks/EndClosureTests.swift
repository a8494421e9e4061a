import Dispatch
import Errand
import ErrandTesting
import Foundation
import TestSupport
import Testing

/// Starts with closures on a queue, and with one closure for both ends.
@Suite(.limited) struct EndClosureTests {
    private let fixture = AgentFixture()

    init() {
        fixture.transport.on(.get, "/users", .json(#"{"nick":"a","level":3}"#))
        fixture.transport.on(.get, "/x", .json("{}"))
        fixture.transport.on(.get, "/bad", .json("{}", status: .badRequest))
        fixture.transport.on(.get, "/slow", .silence)
    }

    @Test func queueReceivesTheOutputOfATypedEndpoint() async throws {
        let user = await GetUser.outputOnQueue(fixture.with(GetUser(id: 1)))
        #expect(try user.get() == User(nick: "a", level: 3))
        let response = await GetUser.endedOnQueue(GetUser(id: 1), on: fixture.agent)
        #expect(try response.get().json["nick"].string == "a")
    }

    @Test func queueReceivesTheErrorOfATypedEndpoint() async throws {
        fixture.transport.on(.get, "/users", .json(#"{"nick":7}"#))
        let result = await GetUser.outputOnQueue(GetUser(id: 1), on: fixture.agent)
        #expect(result.failure?.code == .undecodable)
    }

    /// The lines of a request that is given up, whose callbacks must be on the queue.
    private func lines(_ path: String, _ queue: DispatchQueue) async -> [String] {
        await withCheckedContinuation { continuation in
            let request = RecordingRequest(path, log: CallbackLog())
            request.attach { $0.log.lines.append("attached") }
            request.observe { event, _ in
                if event != .willStart { dispatchPrecondition(condition: .onQueue(queue)) }
            }
            RecordingRequest.start(request, on: fixture.agent, queue: queue) { request in
                dispatchPrecondition(condition: .onQueue(queue))
                request.log.lines.append("success")
                continuation.resume(returning: request.log.lines)
            } failure: { request, error in
                dispatchPrecondition(condition: .onQueue(queue))
                request.log.lines.append("failure \(error.code)")
                continuation.resume(returning: request.log.lines)
            }
        }
    }

    @Test func queueGetsHooksDelegateAndAccessoriesInTheirOrder() async {
        let queue = DispatchQueue(label: "ends")
        let start = ["willStart accessory", "willStart", "willStop accessory"]
        #expect(
            await lines("x", queue) == start + [
                "didFinish", "delegate finished", "attached", "didStop accessory", "success",
            ])
        #expect(
            await lines("bad", queue) == start + [
                "didFail", "delegate failed", "didStop accessory", "failure unacceptableStatus",
            ])
    }

    @Test func queueRefusesAPolicyThatDeliversTwoResponses() async {
        let request = InlineRequest("x") { $0.cache.policy = .cacheThenLoad }
        let error = await InlineRequest.endedOnQueue(request, on: fixture.agent).failure
        #expect(error?.code == .invalidCombination && fixture.transport.requests.isEmpty)
    }

    @Test func ownerCancelsARequestThatIsGivenUp() async throws {
        var owner: RequestOwner? = RequestOwner()
        let transport = fixture.transport
        let error = await withCheckedContinuation { continuation in
            Plain.start(Plain("slow"), on: fixture.agent, owner: owner, queue: .global()) { _ in
                continuation.resume(returning: RequestError?.none)
            } failure: { _, error in
                continuation.resume(returning: error)
            }
            owner = nil
        }
        #expect(error?.isCancellation == true && transport.requests.count <= 1)
    }

    @Test @MainActor func closureOfBothEndsHasTheResultAndTheOutput() async throws {
        let request = fixture.with(GetUser(id: 1))
        await withCheckedContinuation { continuation in
            request.start(finished: { user in
                #expect(user === request && user.output?.nick == "a")
                continuation.resume()
            })
        }
        #expect(try request.outputResult?.get().level == 3)
        #expect(try request.result?.get().status == .ok)
    }

    @Test @MainActor func closuresReceiveFailureAndCancellation() async throws {
        let bad = fixture.with(Plain("bad"))
        #expect(await bad.ended().failure?.code == .unacceptableStatus)
        #expect(bad.result?.failure?.code == .unacceptableStatus)
        let cancelled = await fixture.with(Plain("slow")).ended { $0.cancel() }
        #expect(cancelled.failure?.isCancellation == true)
    }

    @Test @MainActor func closureOfBothEndsIsCalledInTheOrderOfDelivery() async {
        let log = CallbackLog()
        let request = fixture.with(RecordingRequest("x", log: log))
        request.attach { _ in log.lines.append("attached") }
        await withCheckedContinuation { continuation in
            request.start(finished: { _ in
                log.lines.append("finished")
                Task { continuation.resume() }
            })
        }
        #expect(
            log.lines == [
                "willStart accessory", "willStart", "willStop accessory", "didFinish",
                "delegate finished", "attached", "finished", "didStop accessory",
            ])
    }

    @Test @MainActor func closureOfBothEndsIsCalledAfterProgress() async {
        var updates = 0
        let request = fixture.with(Plain("x")).onProgress { _, _ in updates += 1 }
        await withCheckedContinuation { continuation in
            request.start(finished: { _ in continuation.resume() })
        }
        #expect(updates >= 1)
    }
}
