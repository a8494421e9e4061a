import Errand
import ErrandTesting
import Foundation
import Synchronization
import TestSupport
import Testing

/// Operations on stored responses without a start: reading, storing, removing, counting.
@Suite(.limited) struct CachedResponseTests {
    enum Mode: CaseIterable { case time, http }

    private let fixture = AgentFixture()
    private let lasting: HTTPFields = [
        .contentType: "application/json", .cacheControl: "max-age=60",
    ]

    private func request(
        _ mode: Mode, _ path: String = "item",
        _ change: (inout RequestDescription) -> Void = { _ in }
    ) -> InlineRequest {
        InlineRequest(EndpointURL(raw: path), agent: fixture.agent) {
            if mode == .time { $0.cacheSeconds = 60 } else { $0.cache.policy = .http }
            $0.cache.writesAsynchronously = false
            change(&$0)
        }
    }

    private func script(_ text: String, headers: HTTPFields? = nil, path: String = "/item") {
        fixture.transport.on(
            .get, path, ScriptedResponse(headers: headers ?? lasting, body: Data(text.utf8)))
    }

    @Test(arguments: Mode.allCases) func storedResponseIsReadWithoutAStart(mode: Mode) async throws
    {
        #expect(try await request(mode).cachedResponse() == nil)
        script("[1]")
        _ = try await request(mode).send()
        fixture.clock.advance(by: .seconds(20))
        let count = fixture.events.names.count
        let typed = request(mode).decoding([Int].self)
        #expect(try await typed.cachedValue() == [1])
        let response = try #require(try await fixture.agent.cachedResponse(request(mode)))
        #expect(response.source == .cacheFresh && response.age == .seconds(20))
        #expect(fixture.transport.requests.count == 1)
        #expect(fixture.events.names.count == count && fixture.agent.activeTasks.isEmpty)
        fixture.clock.advance(by: .seconds(60))
        #expect(try await request(mode).cachedResponse() == nil)
    }

    @Test(arguments: Mode.allCases) func validatorAndProcessorsAreApplied(mode: Mode) async throws {
        script("[1]")
        _ = try await request(mode).send()
        let processed = request(mode) {
            $0.responseProcessors = [
                { response in
                    response.body = .data(Data("[2]".utf8))
                }
            ]
        }
        #expect(try await processed.cachedResponse()?.data == Data("[2]".utf8))
        let strict = request(mode) { $0.validator = ["missing": .number] }
        #expect(try await strict.cachedResponse() == nil)
    }

    @Test(arguments: Mode.allCases) func stalenessIsAcceptedByName(mode: Mode) async throws {
        script("[1]")
        _ = try await request(mode).send()
        fixture.clock.advance(by: .seconds(100))
        for (seconds, isFound) in [(39, false), (40, true)] {
            let limit = { (it: inout RequestDescription) in
                it.cache.maximumStaleness = .seconds(seconds)
                if mode == .time {
                    it.cache.policy = .cacheOnly
                } else {
                    it.headers[.cacheControl] = "only-if-cached"
                }
            }
            #expect(try await (request(mode, "item", limit).cachedResponse() != nil) == isFound)
            let sent = try? await request(mode, "item", limit).send()
            #expect(sent?.source == (isFound ? .cacheStale : nil))
            if isFound { #expect(sent?.age == .seconds(100)) }
        }
        #expect(fixture.transport.requests.count == 1)
    }

    @Test(arguments: Mode.allCases) func responseIsStoredAndRemovedByHand(mode: Mode) async throws {
        let url = try HTTPURL(parsing: "https://api.example.com/item")
        let response = Response(
            status: .ok, headers: lasting, body: .data(Data("[7]".utf8)), url: url)
        try await fixture.agent.store(response, for: request(mode))
        let key = try #require(try await fixture.agent.cacheKey(for: request(mode)))
        let entries = try #require(try await fixture.agent.store?.entries())
        #expect(entries.map(\.key) == [key])
        #expect(entries[0].expiresAt == fixture.clock.now + 60)
        #expect(try await request(mode).send().data == Data("[7]".utf8))
        try await request(mode).removeCached()
        #expect(try await fixture.agent.store?.entries().isEmpty == true)
        #expect(try await request(mode).cachedResponse() == nil)
        #expect(fixture.transport.requests.isEmpty)
    }

    @Test func invalidResponsesAreNotStoredByHand() async throws {
        let bytes = Data("[1]".utf8)
        try await request(.time).storeResponse(bytes)
        #expect(try await request(.time).cachedResponse()?.data == bytes)
        let failing: [(InlineRequest, RequestError.Code)] = [
            (request(.time) { $0.validator = ["missing": .number] }, .shapeMismatch),
            (request(.time) { $0.cacheSeconds = -1 }, .invalidCombination),
            (request(.time) { $0.cache.transform = { _ in nil } }, .invalidCombination),
            // No lifetime, and no validator.
            (request(.http), .invalidCombination),
        ]
        for (request, code) in failing {
            do {
                try await request.storeResponse(bytes)
                Issue.record("The response was stored.")
            } catch {
                #expect(error.code == code, "\(error)")
            }
        }
    }

    @Test func clearedSelectionIsNotStoredByARequestInFlight() async throws {
        let gate = Gate()
        for path in ["/a", "/b"] {
            fixture.transport.on(
                .get, path,
                ScriptedResponse(headers: lasting, body: Data("[1]".utf8)).held(by: gate))
        }
        let tasks = [("a", 1), ("b", 2)].map { path, tag in
            fixture.agent.start(request(.time, path) { $0.tag = tag }.makeDescription())
        }
        for _ in tasks { _ = try await fixture.transport.nextRequest() }
        #expect(try await fixture.agent.clearCache(where: .init(tag: 1)) == 0)
        gate.open()
        for task in tasks { _ = try await task.response() }
        #expect(try await fixture.agent.store?.entries().map(\.tag) == [2])
        #expect(try await fixture.agent.clearCache(where: .init(tag: 2)) == 1)
        #expect(try await fixture.agent.store?.entries().isEmpty == true)
    }

    @Test(arguments: Mode.allCases) func hooksChangeOrRefuseWhatIsStored(mode: Mode) async throws {
        fixture.agent.reconfigure {
            $0.responseToStore = { response in
                var response = response
                response.body = .data(Data("[2]".utf8))
                return response
            }
        }
        script("[1]")
        #expect(try await request(mode).send().data == Data("[1]".utf8))
        #expect(try await request(mode).cachedResponse()?.data == Data("[2]".utf8))
        script("[1]", path: "/other")
        let refusing = { (it: inout RequestDescription) in
            it.cache.transform = { $0.data == Data("[2]".utf8) ? nil : $0 }
        }
        _ = try await request(mode, "other", refusing).send()
        #expect(try await request(mode, "other").cachedResponse() == nil)
    }

    @Test(arguments: Mode.allCases) func hookRefusesAStreamByItsHead(mode: Mode) async throws {
        let bodies = Mutex<[Int]>([])
        for (path, refuses) in [("kept", false), ("refused", true)] {
            script("[1]", path: "/" + path)
            let streamed = request(mode, path) {
                $0.cache.transform = { response in
                    bodies.withLock { $0.append(response.data.count) }
                    return refuses ? nil : response
                }
            }
            let stream = try await streamed.stream()
            for try await _ in stream.bytes {}
            await fixture.agent.flushCache()
            #expect(try await (request(mode, path).cachedResponse() == nil) == refuses)
        }
        #expect(bodies.withLock { $0 } == [0, 0])
    }

    @Test func ageOfNetworkResponsesIsTheirField() async throws {
        for (value, seconds) in [(nil, 0), ("30", 30), ("30, 40", 30), ("x", 0), ("-1", 0)] {
            var headers = lasting
            headers[.age] = value
            script("[1]", headers: headers)
            #expect(
                try await request(.time) { $0.cache.policy = .reload }.send().age
                    == .seconds(seconds))
        }
    }

    @Test func ageOfHTTPResponsesIncludesTheirField() async throws {
        var headers = lasting
        headers[.age] = "30"
        script("[1]", headers: headers)
        _ = try await request(.http).send()
        fixture.clock.advance(by: .seconds(10))
        let response = try #require(try await request(.http).cachedResponse())
        #expect(response.age == .seconds(40))
        let entry = try #require(try await fixture.agent.store?.entries().first)
        #expect(entry.expiresAt == entry.storedAt + 30)
    }

    @Test func statisticsCountUsesWithoutListeners() async throws {
        fixture.agent.reconfigure { $0.eventListeners = [] }
        let tagged: HTTPFields = [
            .contentType: "application/json", .cacheControl: "max-age=60", .eTag: #""1""#,
        ]
        script("[1]", headers: tagged)
        _ = try await request(.http).send()
        _ = try await request(.http).send()
        fixture.clock.advance(by: .seconds(100))
        fixture.transport.on(.get, "/item", ScriptedResponse(status: .notModified))
        _ = try await request(.http).send()
        script("[1]", path: "/plain")
        _ = try await InlineRequest("plain").send(on: fixture.agent)
        fixture.agent.reconfigure { $0.cachePolicy = .loadElseCache }
        script("[1]", path: "/old")
        _ = try await request(.time, "old").send()
        fixture.transport.on(.get, "/old", ScriptedResponse(status: .badGateway))
        let old = try await request(.time, "old").send()
        #expect(old.loadError?.code == .unacceptableStatus)
        let statistics = try await fixture.agent.cacheStatistics()
        #expect(statistics.freshHits == 1)
        #expect(statistics.staleHits == 1)
        #expect(statistics.revalidatedHits == 1)
        #expect(statistics.misses == [.noEntry: 1, .expired: 1])
        #expect(statistics.stores == 3 && statistics.storeFailures == 0)
        #expect(statistics.hitRate == 0.5)
        #expect(statistics.usage?.entries == 2)
    }
}
