import Errand
import ErrandTesting
import Testing

/// One observer for the events of some endpoints.
@Suite(.timeLimit(.minutes(5))) struct FilteredListenerTests {
    private class Users {
        final class Get: BaseRequest {
            override var url: String { "users" }
        }
    }

    private class Flights {
        class Get: BaseRequest {
            override var url: String { "flights" }
        }

        final class GetAgain: Get {}
    }

    private func heard(
        by make: (EventRecorder) -> FilteredListener
    ) async throws -> Set<Int> {
        let recorder = EventRecorder()
        let world = World { $0.eventListeners.append(make(recorder)) }
        world.transport.answer { _ in .json("{}") }
        let requests: [BaseRequest] = [
            Users.Get(), Flights.Get(), Flights.GetAgain(), InlineRequest("x"),
        ]
        for (index, request) in requests.enumerated() {
            request.tag = index + 1
            try await world.with(request).send()
        }
        return Set(recorder.events.map(\.tag))
    }

    @Test func aNameMeansAllTypesThatHaveIt() async throws {
        #expect(try await heard { FilteredListener(endpoints: ["Get"], to: $0) } == [1, 2])
    }

    @Test func aTypeMeansNoOther() async throws {
        #expect(try await heard { FilteredListener(endpoints: [Users.Get.self], to: $0) } == [1])
        #expect(
            try await heard {
                FilteredListener(endpoints: [Flights.Get.self, InlineRequest.self], to: $0)
            } == [2, 4])
    }

    @Test func tagsMustFitToo() async throws {
        #expect(
            try await heard {
                FilteredListener(endpoints: [Users.Get.self, Flights.Get.self], tags: [2], to: $0)
            } == [2])
        #expect(try await heard { FilteredListener(tags: [3, 4], to: $0) } == [3, 4])
    }
}
