import Errand
import ErrandTesting
import Foundation
import TestSupport
import Testing

/// An endpoint with a cache time, or with the headers of the server.
private final class Item: JSONRequest<Int> {
    let isHTTP: Bool
    var policy: CachePolicy?
    var staleness: Duration?
    private let log: CallbackLog?

    init(isHTTP: Bool = false, log: CallbackLog? = nil) {
        self.isHTTP = isHTTP
        self.log = log
        super.init()
        if let log { accessories = [log] }
    }

    override var url: EndpointURL { "item" }
    override var cacheSeconds: Int { isHTTP ? -1 : 60 }
    override func configure(_ request: inout RequestDescription) {
        super.configure(&request)
        request.cache.policy = policy ?? (isHTTP ? .http : nil)
        request.cache.maximumStaleness = staleness
        request.cache.writesAsynchronously = false
    }
    override func didFinish() { log?.lines.append("didFinish") }
    override func didFail() { log?.lines.append("didFail") }
}

@Suite(.limited) struct StoredUpdatesTests {
    private let fixture = AgentFixture()

    private func number(_ text: String, _ headers: HTTPFields = [:]) -> ScriptedResponse {
        var headers = headers
        headers[.contentType] = "application/json"
        return ScriptedResponse(headers: headers, body: Data(text.utf8))
    }

    /// A stored 1, `age` seconds old.
    private func stored(_ response: ScriptedResponse, age: Int, isHTTP: Bool = false) async throws {
        fixture.transport.on(.get, "/item", response)
        _ = try await fixture.with(Item(isHTTP: isHTTP)).send()
        fixture.clock.advance(by: .seconds(age))
    }

    private func values(_ item: Item) async throws -> [Int] {
        var values: [Int] = []
        for try await value in fixture.with(item).updates() { values.append(value) }
        return values
    }

    @Test(arguments: [10, 1000]) func storedValueIsFollowedByTheChangedOne(age: Int) async throws {
        try await stored(number("1"), age: age)
        fixture.transport.on(.get, "/item", number("2"))
        let item = fixture.with(Item())
        var seen: [String] = []
        for try await value in item.updates() {
            let response = try #require(item.response)
            seen.append("\(value) \(response.source) \(response.age.components.seconds)")
        }
        #expect(seen == ["1 \(age > 60 ? "cacheStale" : "cacheFresh") \(age)", "2 network 0"])
        #expect(item.task == nil && item.output == 2)
        #expect(try await fixture.with(Item()).send().source == .cacheFresh)
    }

    @Test func equalValueIsYieldedOnce() async throws {
        try await stored(number("1"), age: 10)
        fixture.transport.on(.get, "/item", number("1"))
        let item = Item()
        #expect(try await values(item) == [1])
        #expect(item.response?.source == .network && item.response?.loadError == nil)
        #expect(fixture.transport.requests.count == 2)
    }

    @Test func withoutAStoredValueThereIsOne() async throws {
        fixture.transport.on(.get, "/item", number("1"))
        #expect(try await values(Item()) == [1])
    }

    @Test func failureLeavesTheStoredValue() async throws {
        try await stored(number("1"), age: 1000)
        fixture.transport.on(.get, "/item", ScriptedResponse(status: .internalServerError))
        let log = CallbackLog()
        let item = Item(log: log)
        #expect(try await values(item) == [1])
        #expect(item.response?.source == .cacheStale)
        #expect(item.response?.loadError?.code == .unacceptableStatus)
        #expect(item.response?.loadError?.endpoint == "Item")
        #expect(item.error == nil)
        #expect(log.lines.count { $0 == "didFinish" || $0 == "didFail" } == 1)
        #expect(fixture.events.names.count { $0 == "storedResponseKept" } == 1)
    }

    @Test func failureWithoutAStoredValueIsThrown() async throws {
        fixture.transport.on(.get, "/item", ScriptedResponse(status: .notFound))
        await #expect(throws: RequestError.self) { _ = try await values(Item()) }
    }

    @Test func revalidatedValueIsYieldedOnce() async throws {
        let tagged = number("1", [.cacheControl: "max-age=60", .eTag: #""1""#])
        try await stored(tagged, age: 30, isHTTP: true)
        fixture.transport.on(.get, "/item", ScriptedResponse(status: .notModified))
        let item = Item(isHTTP: true)
        #expect(try await values(item) == [1])
        // The stored response is fresh, and is revalidated all the same.
        #expect(fixture.transport.requests.last?.headers[.ifNoneMatch] == #""1""#)
        #expect(item.response?.source == .revalidated)
    }

    @Test func staleHTTPResponseIsFollowedByTheChangedOne() async throws {
        let tagged = number("1", [.cacheControl: "max-age=60", .eTag: #""1""#])
        try await stored(tagged, age: 1000, isHTTP: true)
        fixture.transport.on(.get, "/item", number("2", [.eTag: #""2""#]))
        #expect(try await values(Item(isHTTP: true)) == [1, 2])
    }

    @Test func staleHTTPResponseRemainsAfterAFailure() async throws {
        let tagged = number(
            "1", [.cacheControl: "max-age=60, stale-if-error=9999", .eTag: #""1""#])
        try await stored(tagged, age: 1000, isHTTP: true)
        fixture.transport.on(.get, "/item", ScriptedResponse(status: .serviceUnavailable))
        let item = Item(isHTTP: true)
        #expect(try await values(item) == [1])
        #expect(item.response?.loadError?.code == .unacceptableStatus)
    }

    @Test func responseThatForbidsStaleUseIsNotDeliveredFirst() async throws {
        let tagged = number("1", [.cacheControl: "max-age=60, must-revalidate", .eTag: #""1""#])
        try await stored(tagged, age: 1000, isHTTP: true)
        fixture.transport.on(.get, "/item", number("2"))
        #expect(try await values(Item(isHTTP: true)) == [2])
    }

    @Test func stalenessLimitsTheStoredValue() async throws {
        try await stored(number("1"), age: 100)
        fixture.transport.on(.get, "/item", number("2"))
        let item = Item()
        item.staleness = .seconds(39)
        #expect(try await values(item) == [2])
    }

    @Test func storedValueComesFirstWhateverPrepareSets() async throws {
        fixture.agent.reconfigure { $0.prepare = { $0.cache.policy = .cacheElseLoad } }
        try await stored(number("1"), age: 10)
        fixture.transport.on(.get, "/item", number("2"))
        #expect(try await values(Item()) == [1, 2])
    }

    @Test func leavingTheLoopEndsTheRequest() async throws {
        try await stored(number("1"), age: 10)
        fixture.transport.on(.get, "/item", .silence)
        let log = CallbackLog()
        let item = fixture.with(Item(log: log))
        for try await value in item.updates() {
            #expect(value == 1)
            break
        }
        #expect(item.error?.isCancellation == true)
        #expect(log.lines.filter { $0.hasPrefix("did") } == ["didFail", "didStop accessory"])
        try await fixture.transport.untilIdle()
    }

    @Test func cancellationEndsTheSequenceWithAnError() async throws {
        try await stored(number("1"), age: 10)
        fixture.transport.on(.get, "/item", .silence)
        let agent = fixture.agent
        let work = Task {
            var values: [Int] = []
            do {
                for try await value in Item().updates(on: agent) { values.append(value) }
                return (values, nil as RequestError?)
            } catch {
                return (values, error as? RequestError)
            }
        }
        _ = try await fixture.transport.nextRequest()
        _ = try await fixture.transport.nextRequest()
        work.cancel()
        let (values, error) = await work.value
        #expect(error?.isCancellation == true)
        #expect(values == [1] || values == [])
    }

    // MARK: - Closures, send() and value()

    private func item(isHTTP: Bool = false) -> Item {
        let item = fixture.with(Item(isHTTP: isHTTP))
        item.policy = isHTTP ? .httpThenLoad : .cacheThenLoad
        return item
    }

    private let tagged: HTTPFields = [.cacheControl: "max-age=60", .eTag: #""1""#]

    @MainActor @Test(arguments: [false, true], [10, 1000])
    func closuresReceiveBoth(isHTTP: Bool, age: Int) async throws {
        try await stored(number("1", tagged), age: age, isHTTP: isHTTP)
        fixture.transport.on(.get, "/item", number("2"))
        var seen: [String] = []
        let item = item(isHTTP: isHTTP)
        await withCheckedContinuation { continuation in
            item.start { item in
                let response = item.response
                seen.append(
                    "\(item.output ?? 0) \(response?.source.rawValue ?? "") "
                        + "\(response?.age.components.seconds ?? 0)")
                if response?.source == .network { continuation.resume() }
            } failure: { _, error in
                Issue.record("\(error)")
                continuation.resume()
            }
        }
        #expect(seen == ["1 \(age > 60 ? "cacheStale" : "cacheFresh") \(age)", "2 network 0"])
    }

    @MainActor @Test(arguments: [false, true])
    func closuresReceiveTheStoredOneAgainAfterAFailure(isHTTP: Bool) async throws {
        try await stored(number("1", tagged), age: 1000, isHTTP: isHTTP)
        fixture.transport.on(.get, "/item", ScriptedResponse(status: .badGateway))
        var seen: [String] = []
        let item = item(isHTTP: isHTTP)
        // The task ends before the last closure is called on the main actor.
        await withCheckedContinuation { continuation in
            item.start { item in
                let isLast = item.response?.loadError != nil
                seen.append("\(item.output ?? 0) \(isLast)")
                if isLast { continuation.resume() }
            } failure: { _, error in
                Issue.record("\(error)")
                continuation.resume()
            }
        }
        #expect(seen == ["1 false", "1 true"])
    }

    @Test func confirmedHTTPResponseEndsTheRequest() async throws {
        try await stored(number("1", tagged), age: 10, isHTTP: true)
        fixture.transport.on(.get, "/item", ScriptedResponse(status: .notModified))
        let item = item(isHTTP: true)
        #expect(try await item.value() == 1)
        #expect(item.response?.source == .revalidated)
        #expect(fixture.transport.requests.last?.headers[.ifNoneMatch] == #""1""#)
    }

    @Test @MainActor func closureReceivesBothAndTheErrorWithTheStoredOne() async throws {
        try await stored(number("1"), age: 1000)
        let failure = RequestError(.connectionLost, stage: .transport, "The connection was lost.")
        fixture.transport.on(.get, "/item", .failure(failure))
        let (responses, continuation) = AsyncStream.makeStream(of: Response?.self)
        let task = item().start { continuation.yield($0.response) }
        var iterator = responses.makeAsyncIterator()
        let first = await iterator.next() ?? nil
        let second = await iterator.next() ?? nil
        #expect(first?.loadError == nil && first?.source == .cacheStale)
        #expect(second?.loadError?.code == .connectionLost && second?.source == .cacheStale)
        await task.untilEnded()
    }

    @Test @MainActor func closureOfBothEndsIsNotCalledForTheStoredOne() async throws {
        try await stored(number("1"), age: 10)
        fixture.transport.on(.get, "/item", number("2"))
        let item = item()
        let output = await withCheckedContinuation { continuation in
            item.start(finished: { continuation.resume(returning: $0.output) })
        }
        #expect(output == 2)
    }

    @Test func valueIsThatOfTheNetwork() async throws {
        try await stored(number("1"), age: 10)
        fixture.transport.on(.get, "/item", number("2"))
        #expect(try await item().value() == 2)
        fixture.transport.on(.get, "/item", ScriptedResponse(status: .badGateway))
        let response = try await item().send()
        #expect(response.loadError != nil && response.data == Data("2".utf8))
    }

    @Test func totalLimitLeavesTheStoredValue() async throws {
        try await stored(number("1"), age: 10)
        fixture.transport.on(.get, "/item", .silence)
        fixture.agent.reconfigure { $0.timeouts.total = .seconds(5) }
        let item = item()
        let task = fixture.agent.start(item.makeDescription())
        _ = try await fixture.transport.nextRequest()
        _ = try await fixture.transport.nextRequest()
        fixture.clock.advance(by: .seconds(5))
        let response = try await task.response()
        #expect(response.loadError?.code == .timedOut)
        #expect(response.data == Data("1".utf8))
    }

    @Test func joinedRequestsGetTheStoredValueEach() async throws {
        try await stored(number("1"), age: 10)
        let gate = Gate()
        fixture.transport.on(.get, "/item", number("2").held(by: gate))
        let descriptions = (0..<2).map { _ in
            var description = item().makeDescription()
            description.sending.duplicates = .join
            return description
        }
        let tasks = descriptions.map { fixture.agent.start($0) }
        for task in tasks {
            let stored = await withCheckedContinuation { continuation in
                task.whenStored { continuation.resume(returning: $0) }
            }
            #expect(try stored.result.get().data == Data("1".utf8))
        }
        try await fixture.untilJoined()
        gate.open()
        for task in tasks { #expect(try await task.response().data == Data("2".utf8)) }
        #expect(fixture.transport.requests.count == 2)
    }

    // MARK: - Refusals

    private func refusal(_ body: () async throws -> Void) async -> RequestError? {
        do {
            try await body()
            return nil
        } catch {
            return error as? RequestError
        }
    }

    @Test(arguments: [false, true])
    func requestsWithOneResultRefuseThePolicy(isHTTP: Bool) async throws {
        let policy: CachePolicy = isHTTP ? .httpThenLoad : .cacheThenLoad
        let parts: [(String, () async throws -> Void)] = [
            ("batch", { _ = try await BatchRequest([item(isHTTP: isHTTP)]).send() }),
            (
                "chain",
                {
                    let chain = ChainRequest()
                    chain.add(item(isHTTP: isHTTP))
                    _ = try await chain.send()
                }
            ),
            ("streamed", { _ = try await item(isHTTP: isHTTP).stream() }),
            (
                "download",
                {
                    _ = try await fixture.with(
                        InlineRequest("file") {
                            $0.cache.policy = policy
                            $0.download = DownloadPlan(
                                to: URL(fileURLWithPath: "/tmp/unused-file"))
                        }
                    ).send()
                }
            ),
        ]
        for (name, part) in parts {
            let error = await refusal(part)
            #expect(error?.code == .invalidCombination, "\(name)")
            #expect(error?.message.contains(name) == true, "\(name)")
            #expect(error?.message.contains(".\(policy)") == true, "\(name)")
        }
        #expect(fixture.transport.requests.isEmpty)
    }
}
