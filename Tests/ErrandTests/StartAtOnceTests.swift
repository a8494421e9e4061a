import Errand
import ErrandTesting
import Foundation
import Synchronization
import Testing

/// Where a started request runs: on the caller's thread until it waits, where that costs next to nothing.
@MainActor @Suite(.timeLimit(.minutes(5))) struct StartAtOnceTests {
    private final class Plain: BaseRequest {
        override var url: String { "/plain" }
    }

    private final class Sent: BaseRequest {
        override var url: String { "/sent" }
        override var method: HTTPMethod { .post }
        override var arguments: Arguments? { ["a": 1] }
    }

    private final class Judged: BaseRequest {
        override var url: String { "/judged" }
        override var processors: [any ResponseProcessor] { [WhereAmI()] }
        override var businessValidator: BusinessValidator? {
            BusinessValidator { _ in WhereAmI.isOnMain ? .reject(WhereAmI.OnMain()) : .accept }
        }
    }

    /// Refuses answers on the main actor.
    private struct WhereAmI: ResponseProcessor {
        struct OnMain: Error {}

        private static let key: DispatchSpecificKey<Bool> = {
            let key = DispatchSpecificKey<Bool>()
            DispatchQueue.main.setSpecific(key: key, value: true)
            return key
        }()

        static var isOnMain: Bool { DispatchQueue.getSpecific(key: key) ?? false }

        func process(_ response: Response, attempt: Int) async throws -> Response {
            if Self.isOnMain { throw OnMain() }
            return response
        }
    }

    /// Starts on the main actor and waits for the closures.
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

    @Test func aRequestThatIsAloneIsOnItsWayWhenStartReturns() async {
        let world = World { $0.eventListeners = [] }
        world.transport.on(.get, "/plain", .json("{}"))
        for count in 1...3 {
            let error = await run(world.with(Plain())) {
                #expect(world.transport.requests.count == count)
            }
            #expect(error == nil)
        }
    }

    /// The check of `isOnMain` is worth something: closures are there, answers are not.
    @Test func whatIsDoneWithAnswersIsNotTheMainActors() async {
        #expect(WhereAmI.isOnMain)
        let world = World { $0.eventListeners = [] }
        world.transport.on(.get, "/judged", .json("{}"))
        for _ in 0..<50 {
            #expect(await run(world.with(Judged())) == nil)
            #expect(WhereAmI.isOnMain)
        }
    }

    /// Serializing may take long, and reading the store.
    @Test func whatTakesTimeIsNotTheMainActorsEither() async {
        let world = World { configuration in
            configuration.eventListeners = []
            configuration.requestProcessors = [Refusing()]
        }
        world.transport.on(.post, "/sent", .json("{}"))
        world.transport.on(.get, "/plain", .json("{}"))
        #expect(await run(world.with(Sent())) == nil)
        #expect(await run(world.with(Plain())) == nil)
    }

    private struct Refusing: RequestProcessor {
        func process(
            _ request: inout TransportRequest, of description: RequestDescription
        ) async throws {
            if WhereAmI.isOnMain { throw WhereAmI.OnMain() }
        }
    }

    /// Whoever starts a request may hold what a listener wants, such as a lock.
    @Test func nobodyIsToldInsideOfStart() async {
        let listener = Listener()
        let world = World { $0.eventListeners = [listener] }
        world.transport.on(.get, "/plain", .json("{}"))
        for _ in 0..<10 {
            #expect(await run(world.with(Plain())) == nil)
        }
        #expect(await run(world.with(InlineRequest("http://[broken")))?.code == .invalidURL)
        #expect(listener.told.load(ordering: .relaxed) > 0)
        #expect(listener.toldOnMain.load(ordering: .relaxed) == 0)
    }

    /// Counts events, and those that come on the main actor's thread.
    private final class Listener: RequestEventListener {
        let told = Atomic<Int>(0)
        let toldOnMain = Atomic<Int>(0)

        func handle(_ event: RequestEvent) {
            told.add(1, ordering: .relaxed)
            if WhereAmI.isOnMain { toldOnMain.add(1, ordering: .relaxed) }
        }
    }

    @Test func progressIsNotToldInsideOfStartEither() async {
        let toldOnMain = Atomic<Int>(0)
        let request = InlineRequest("http://[broken") {
            $0.progressHandler = { _ in
                if WhereAmI.isOnMain { toldOnMain.add(1, ordering: .relaxed) }
            }
        }
        #expect(await run(World { $0.eventListeners = [] }.with(request))?.code == .invalidURL)
        #expect(toldOnMain.load(ordering: .relaxed) == 0)
    }

    @Test func whatCannotBeSentEndsAsUsual() async {
        let world = World { $0.eventListeners = [] }
        let request = InlineRequest("http://[broken")
        var hasReturned = false
        let error: RequestError? = await withCheckedContinuation { continuation in
            world.with(request).start { _ in
                continuation.resume(returning: nil)
            } failure: { _, error in
                #expect(hasReturned, "never inside of start")
                continuation.resume(returning: error)
            }
            hasReturned = true
        }
        #expect(error?.code == .invalidURL)
    }
}
