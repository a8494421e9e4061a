import Errand
import ErrandTesting
import Synchronization
import Testing

/// One observer for the answers of some endpoints, wherever they are asked for (row CB-2).
@Suite(.timeLimit(.minutes(5))) struct FilteredAccessoryTests {
    private final class Observer: RequestAccessory, Sendable {
        private let lines = Mutex<[String]>([])
        var heard: [String] { lines.withLock { $0 } }

        func requestWillStart(_ request: BaseRequest) {
            lines.withLock { $0.append("start \(type(of: request))") }
        }

        func requestDidStop(_ request: BaseRequest) {
            let outcome =
                request.error.map { "\($0.code)" } ?? "\(request.response?.statusCode ?? 0)"
            lines.withLock { $0.append("stop \(type(of: request)) \(outcome)") }
        }
    }

    @Test func onlyWantedOnesArePassedOnWithTheirAnswers() async throws {
        let observer = Observer()
        let world = World {
            $0.accessories = [FilteredAccessory(observer) { $0 is GetUser || $0.tag == 7 }]
        }
        world.transport.answer { request in
            request.url.path == "/tagged"
                ? .json("{}", status: .notFound) : .json(#"{"nick":"a","level":1}"#)
        }
        try await world.with(Plain("other")).send()
        _ = try await world.with(GetUser(id: 1)).value()
        let tagged = world.with(Plain("tagged"))
        tagged.tag = 7
        await #expect(throws: RequestError.self) { try await tagged.send() }
        #expect(
            observer.heard == [
                "start GetUser", "stop GetUser 200", "start Plain", "stop Plain unacceptableStatus",
            ])
    }

    @Test func anAgentsAccessoryMayBeAClosure() async throws {
        let moments = Mutex<[ClosureAccessory.Moment]>([])
        let world = World {
            $0.accessories = [
                FilteredAccessory(
                    AgentAccessory { moment, _ in moments.withLock { $0.append(moment) } }
                ) { $0 is Plain }
            ]
        }
        world.transport.answer { _ in .json(#"{"nick":"a","level":1}"#) }
        try await world.with(Plain("x")).send()
        _ = try await world.with(GetUser(id: 1)).value()
        #expect(moments.withLock { $0 } == [.willStart, .willStop, .didStop])
    }

    @Test func anAgentKeepsAWeaklyHeldAccessoryNotAlive() async throws {
        var observer: Observer? = Observer()
        weak var seen: Observer?
        seen = observer
        let world = World { $0.accessories = [AgentAccessory(weak: observer ?? Observer())] }
        world.transport.answer { _ in .json("{}") }
        try await world.with(Plain("x")).send()
        #expect(observer?.heard == ["start Plain", "stop Plain 200"])
        observer = nil
        #expect(seen == nil)
        try await world.with(Plain("y")).send()
    }

    @Test func membersOfABatchAreAmongThem() async throws {
        let observer = Observer()
        let world = World { $0.accessories = [FilteredAccessory(observer) { $0 is GetUser }] }
        world.transport.answer { _ in .json(#"{"nick":"a","level":1}"#) }
        let members = [world.with(Plain("x")), world.with(GetUser(id: 2))]
        _ = try await BatchRequest(members).send()
        #expect(observer.heard == ["start GetUser", "stop GetUser 200"])
    }
}
