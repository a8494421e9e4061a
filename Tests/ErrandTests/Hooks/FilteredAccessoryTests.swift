import Errand
import ErrandTesting
import Synchronization
import TestSupport
import Testing

/// Accessories of a configuration that observe some requests only.
@Suite(.limited) struct FilteredAccessoryTests {
    private final class Observer: RequestAccessory, Sendable {
        private let lines = Mutex<[String]>([])
        var received: [String] { lines.withLock { $0 } }

        func requestWillStart(_ request: BaseRequest) {
            lines.withLock { $0.append("start \(type(of: request))") }
        }

        func requestDidStop(_ request: BaseRequest) {
            let outcome =
                request.error.map { "\($0.code)" } ?? "\(request.response?.statusCode ?? 0)"
            lines.withLock { $0.append("stop \(type(of: request)) \(outcome)") }
        }
    }

    @Test func onlyMatchingRequestsAreForwardedWithTheirResults() async throws {
        let observer = Observer()
        let fixture = AgentFixture {
            $0.observe { event, unit in
                if unit is GetUser || unit.tag == 7 { observer.notify(event, of: unit) }
            }
        }
        fixture.transport.respond { request in
            request.url.path == "/tagged"
                ? .json("{}", status: .notFound) : .json(#"{"nick":"a","level":1}"#)
        }
        try await fixture.with(Plain("other")).send()
        _ = try await fixture.with(GetUser(id: 1)).value()
        let tagged = fixture.with(Plain("tagged"))
        tagged.tag = 7
        await #expect(throws: RequestError.self) { try await tagged.send() }
        #expect(
            observer.received == [
                "start GetUser", "stop GetUser 200", "start Plain", "stop Plain unacceptableStatus",
            ])
    }

    @Test func closureAccessoryOfTheConfigurationCanBeFiltered() async throws {
        let events = Mutex<[RequestUnit.LifecycleEvent]>([])
        let fixture = AgentFixture {
            $0.observe { event, unit in
                if unit is Plain { events.withLock { $0.append(event) } }
            }
        }
        fixture.transport.respond { _ in .json(#"{"nick":"a","level":1}"#) }
        try await fixture.with(Plain("x")).send()
        _ = try await fixture.with(GetUser(id: 1)).value()
        #expect(events.withLock { $0 } == [.willStart, .willStop, .didStop])
    }

    @Test func weaklyHeldAccessoryIsReleased() async throws {
        var observer: Observer? = Observer()
        weak var weakObserver: Observer?
        weakObserver = observer
        let fixture = AgentFixture {
            $0.observe(weakly: observer ?? Observer())
        }
        fixture.transport.respond { _ in .json("{}") }
        try await fixture.with(Plain("x")).send()
        #expect(observer?.received == ["start Plain", "stop Plain 200"])
        observer = nil
        #expect(weakObserver == nil)
        try await fixture.with(Plain("y")).send()
    }

    @Test func matchingBatchMembersAreForwarded() async throws {
        let observer = Observer()
        let fixture = AgentFixture {
            $0.observe { event, unit in if unit is GetUser { observer.notify(event, of: unit) } }
        }
        fixture.transport.respond { _ in .json(#"{"nick":"a","level":1}"#) }
        let members = [fixture.with(Plain("x")), fixture.with(GetUser(id: 2))]
        _ = try await BatchRequest(members).send()
        #expect(observer.received == ["start GetUser", "stop GetUser 200"])
    }
}
