import Errand
import ErrandTesting
import TestSupport
import Testing

/// `FilteredListener` forwards the events of the endpoints and tags that it names.
@Suite(.limited) struct FilteredListenerTests {
    private class Users {
        final class Get: BaseRequest {
            override var url: EndpointURL { "users" }
        }
    }

    private class Articles {
        class Get: BaseRequest {
            override var url: EndpointURL { "flights" }
        }

        final class GetSubclass: Get {}
    }

    private func tags(
        receivedBy make: (EventRecorder) -> FilteredListener
    ) async throws -> Set<Int> {
        let recorder = EventRecorder()
        let fixture = AgentFixture { $0.eventListeners.append(make(recorder)) }
        fixture.transport.respond { _ in .json("{}") }
        let requests: [BaseRequest] = [
            Users.Get(), Articles.Get(), Articles.GetSubclass(), InlineRequest("x"),
        ]
        for (index, request) in requests.enumerated() {
            request.tag = index + 1
            try await fixture.with(request).send()
        }
        return Set(recorder.events.map(\.tag))
    }

    @Test func endpointNameMatchesAllTypesWithThatName() async throws {
        #expect(try await tags { FilteredListener(endpoints: ["Get"], to: $0) } == [1, 2])
    }

    @Test func endpointTypeMatchesExactly() async throws {
        #expect(try await tags { FilteredListener(endpoints: [Users.Get.self], to: $0) } == [1])
        #expect(
            try await tags {
                FilteredListener(endpoints: [Articles.Get.self, InlineRequest.self], to: $0)
            } == [2, 4])
    }

    @Test func tagsFilterInAdditionToEndpoints() async throws {
        #expect(
            try await tags {
                FilteredListener(endpoints: [Users.Get.self, Articles.Get.self], tags: [2], to: $0)
            } == [2])
        #expect(try await tags { FilteredListener(tags: [3, 4], to: $0) } == [3, 4])
    }
}
