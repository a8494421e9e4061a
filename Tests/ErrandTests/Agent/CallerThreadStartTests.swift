import Errand
import ErrandTesting
import Foundation
import Synchronization
import TestSupport
import Testing

/// The thread of a started request: the caller's until the request first waits, if it does no expensive work before.
@MainActor @Suite(.limited) struct CallerThreadStartTests {
    private final class PostArguments: BaseRequest {
        override var url: EndpointURL { "/sent" }
        override var method: HTTPMethod { .post }
        override var arguments: Arguments? { ["a": 1] }
    }

    private final class ValidatedRequest: BaseRequest {
        override var url: EndpointURL { "/validated" }
        override func configure(_ request: inout RequestDescription) {
            super.configure(&request)
            request.responseProcessors += [MainThreadCheck().process]
            request.acceptance.rules.append(
                ResponseRule { _ in
                    MainThread.isCurrent ? .reject(MainThreadCheck.OnMain()) : .accept
                })
        }
    }

    /// A processor that fails on the main thread.
    private struct MainThreadCheck: Sendable {
        struct OnMain: Error {}

        func process(_ response: inout Response) throws {
            if MainThread.isCurrent { throw OnMain() }
        }
    }

    /// Starts a request on the main actor and waits for its closures.
    private func run(_ request: some BaseRequest, then check: () -> Void = {}) async
        -> RequestError?
    {
        await withCheckedContinuation { continuation in
            request.start { _ in
                continuation.resume(returning: nil)
            } failure: { _, error in
                continuation.resume(returning: error)
            }
            check()
        }
    }

    @Test func requestIsSentBeforeStartReturns() async {
        let fixture = AgentFixture { $0.eventListeners = [] }
        fixture.transport.on(.get, "/plain", .json("{}"))
        for count in 1...3 {
            let error = await run(fixture.with(Plain("/plain"))) {
                #expect(fixture.transport.requests.count == count)
            }
            #expect(error == nil)
        }
    }

    /// Closures run on the main thread, which also checks `isOnMain` itself.
    ///
    /// Response processing does not.
    @Test func responsesAreNotProcessedOnTheMainThread() async {
        #expect(MainThread.isCurrent)
        let fixture = AgentFixture { $0.eventListeners = [] }
        fixture.transport.on(.get, "/validated", .json("{}"))
        for _ in 0..<50 {
            #expect(await run(fixture.with(ValidatedRequest())) == nil)
            #expect(MainThread.isCurrent)
        }
    }

    /// Serializing a body and running processors may take long.
    @Test func requestProcessorsDoNotRunOnTheMainThread() async {
        let fixture = AgentFixture { configuration in
            configuration.eventListeners = []
            configuration.requestProcessors = [RejectingOnMain().process]
        }
        fixture.transport.on(.post, "/sent", .json("{}"))
        fixture.transport.on(.get, "/plain", .json("{}"))
        #expect(await run(fixture.with(PostArguments())) == nil)
        #expect(await run(fixture.with(Plain("/plain"))) == nil)
    }

    private struct RejectingOnMain: Sendable {
        func process(
            _ request: inout TransportRequest, of description: RequestDescription, attempt: Int
        ) async throws {
            if MainThread.isCurrent { throw MainThreadCheck.OnMain() }
        }
    }

    /// The caller of `start` may hold a lock that a listener needs, so listeners must not run inside `start`.
    @Test func listenersAreNotCalledInsideStart() async {
        let listener = CountingListener()
        let fixture = AgentFixture { $0.eventListeners = [listener] }
        fixture.transport.on(.get, "/plain", .json("{}"))
        for _ in 0..<10 {
            #expect(await run(fixture.with(Plain("/plain"))) == nil)
        }
        #expect(await run(fixture.with(InlineRequest("http://[broken")))?.code == .invalidURL)
        #expect(listener.count.load(ordering: .relaxed) > 0)
        #expect(listener.countOnMain.load(ordering: .relaxed) == 0)
    }

    /// Counts all events, and those on the main thread.
    private final class CountingListener: RequestEventListener {
        let count = Atomic<Int>(0)
        let countOnMain = Atomic<Int>(0)

        func handle(_ event: RequestEvent) {
            count.add(1, ordering: .relaxed)
            if MainThread.isCurrent { countOnMain.add(1, ordering: .relaxed) }
        }
    }

    @Test func invalidRequestFailsAfterStartReturns() async {
        let fixture = AgentFixture { $0.eventListeners = [] }
        let request = InlineRequest("http://[broken")
        var hasReturned = false
        let error: RequestError? = await withCheckedContinuation { continuation in
            fixture.with(request).start { _ in
                continuation.resume(returning: nil)
            } failure: { _, error in
                #expect(hasReturned, "the closure is never called inside start")
                continuation.resume(returning: error)
            }
            hasReturned = true
        }
        #expect(error?.code == .invalidURL)
    }
}
