import Errand
import ErrandTesting
import Synchronization
import TestSupport
import Testing

/// Hooks and listeners that recognize endpoints by their class.
@Suite(.limited) struct EndpointClassTests {
    private class Base: BaseRequest {
        override var url: EndpointURL { "base" }
    }

    private final class Derived: Base {
        override var url: EndpointURL { "derived" }
    }

    private enum Other {
        final class Derived: BaseRequest {}
    }

    @Test func descriptionIsAnInstanceOfItsClassAndSuperclasses() {
        let description = Derived().makeDescription()
        #expect(description.isA(Derived.self) && description.isA(Base.self))
        #expect(description.isA(BaseRequest.self))
        #expect(!description.isA(Other.Derived.self) && !Base().makeDescription().isA(Derived.self))
        let dynamic: BaseRequest.Type = Base.self
        #expect(description.isA(dynamic) && !Plain("x").makeDescription().isA(dynamic))
        #expect(GetUser(id: 1).makeDescription().isA(JSONRequest<User>.self))
        #expect(!GetUser(id: 1).makeDescription().isA(JSONRequest<[User]>.self))
        #expect(!RequestDescription(endpoint: "Base", url: "base").isA(BaseRequest.self))
    }

    @Test func prepareDecidersAndListenersRecognizeTheClass() async throws {
        let seen = Mutex<[String]>([])
        let fixture = AgentFixture { configuration in
            configuration.prepare = { request in
                if request.isA(Base.self) { request.url = "\(request.url)?base" }
            }
            configuration.retryPolicy = .attempts(2)
            configuration.retryDecider = { $0.description.isA(Base.self) ? .giveUp : .asPolicy }
            configuration.eventListeners.append(
                FilteredListener { event in
                    if case .ended = event.kind, event.isA(Base.self) {
                        seen.withLock { $0.append(event.endpoint) }
                    }
                })
        }
        fixture.transport.on(nil, nil, .json("{}", status: .serviceUnavailable))
        for request in [Derived(), Base()] {
            await #expect(throws: RequestError.self) { try await request.send(on: fixture.agent) }
        }
        let task = fixture.agent.start(Plain("plain").makeDescription())
        #expect(!task.isA(Base.self) && task.isA(Plain.self))
        try await fixture.clock.untilSleeping()
        fixture.clock.advance(by: .seconds(60))
        await task.untilEnded()
        #expect(
            fixture.transport.requests.map { $0.url.path + ($0.url.query ?? "") }
                == ["/derivedbase", "/basebase", "/plain", "/plain"])
        #expect(seen.withLock { $0 } == ["Derived", "Base"])
    }
}
