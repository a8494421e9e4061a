import Errand
import ErrandTesting
import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing

/// `CachePolicy.http` with redirects, parts, cookies, fields that need revalidation, and nothing to use.
@Suite(.limited) struct HTTPCacheExchangeTests {
    private let fixture = AgentFixture()

    private func get(
        _ path: String, _ headers: HTTPFields = [:], method: HTTPMethod = .get,
        _ describe: (inout RequestDescription) -> Void = { _ in }
    ) async throws -> Response {
        let endpoint = InlineRequest(EndpointURL(raw: path)) {
            $0.method = method
            $0.headers = headers
            $0.cache.policy = .http
            $0.acceptance.format = .any
            describe(&$0)
        }
        return try await endpoint.send(on: fixture.agent)
    }

    private func count(_ path: String) -> Int {
        fixture.transport.requests.count { $0.url.path == path }
    }

    private func moved(
        _ status: HTTPResponse.Status = .movedPermanently, _ headers: HTTPFields = [:]
    ) {
        var headers = headers
        headers[.location] = "/new"
        fixture.transport.on(.get, "/old", ScriptedResponse(status: status, headers: headers))
        fixture.transport.on(.get, "/new", ScriptedResponse(body: Data("here".utf8)))
    }

    // MARK: - Redirects

    @Test(arguments: [HTTPResponse.Status.movedPermanently, .permanentRedirect, .found])
    func freshRedirectIsFollowedWithoutARequest(status: HTTPResponse.Status) async throws {
        moved(status, [.cacheControl: "max-age=60"])
        for _ in 0..<3 {
            let response = try await get("old")
            #expect(response.data == Data("here".utf8) && response.url.path == "/new")
        }
        #expect(count("/old") == 1 && count("/new") == 3)
        fixture.clock.advance(by: .seconds(61))
        _ = try await get("old")
        #expect(count("/old") == 2)
        _ = try await get("old")
        #expect(count("/old") == 2)
    }

    @Test func redirectWithoutALifetimeIsAskedForAgain() async throws {
        moved(.found)
        for _ in 0..<2 { _ = try await get("old") }
        #expect(count("/old") == 2)
    }

    @Test func redirectOfOneUserIsNotUsedForAnother() async throws {
        moved(.found, [.cacheControl: "max-age=60"])
        for user in ["Bearer a", "Bearer b"] { _ = try await get("old", [.authorization: user]) }
        #expect(count("/old") == 2)
        _ = try await get("old", [.authorization: "Bearer a"])
        #expect(count("/old") == 2)
    }

    @Test func storedRedirectObeysThePolicy() async throws {
        moved(.found, [.cacheControl: "max-age=60"])
        _ = try await get("old")
        let kept = try await get("old") {
            $0.sending.redirects = RedirectPolicy(maximumCount: 0)
            $0.acceptance.statuses = StatusCodes(200..<400)
        }
        #expect(kept.status == .found && kept.source == .cacheFresh)
        #expect(kept.headers[.age] == "0" && count("/old") == 1)
    }

    @Test func changedPageReplacesTheRedirect() async throws {
        moved(.found, [.cacheControl: "max-age=1"])
        _ = try await get("old")
        fixture.transport.on(
            .get, "/old",
            ScriptedResponse(
                status: .ok, headers: [.cacheControl: "max-age=60"], body: Data("back".utf8)))
        fixture.clock.advance(by: .seconds(2))
        #expect(try await get("old").data == Data("back".utf8))
        #expect(try await get("old").source == .cacheFresh)
        #expect(count("/old") == 2 && count("/new") == 1)
    }

    /// Serves a page with a validator that moves after its first response.
    private func serveMovingPage(_ status: HTTPResponse.Status, _ headers: HTTPFields) {
        let asked = Atomic(0)
        fixture.transport.respond { request in
            if request.url.path == "/new" {
                return request.headers.contains(.ifNoneMatch)
                    ? ScriptedResponse(status: .notModified)
                    : ScriptedResponse(body: Data("here".utf8))
            }
            if asked.add(1, ordering: .relaxed).newValue == 1 {
                return ScriptedResponse(
                    headers: [.cacheControl: "max-age=1", .eTag: "\"1\""],
                    body: Data("first".utf8))
            }
            var headers = headers
            headers[.location] = "/new"
            return ScriptedResponse(status: status, headers: headers)
        }
    }

    /// The condition refers to a response of the first URL: a 304 of the target would have no response that it confirms.
    @Test(arguments: [HTTPResponse.Status.movedPermanently, .found], [true, false])
    func conditionOfTheCacheIsNotSentToTheTarget(
        status: HTTPResponse.Status, isStored: Bool
    ) async throws {
        serveMovingPage(status, isStored ? [.cacheControl: "max-age=60"] : [:])
        _ = try await get("old")
        fixture.clock.advance(by: .seconds(2))
        let response = try await get("old")
        #expect(response.status == .ok && response.data == Data("here".utf8))
        let conditions = fixture.transport.requests.map { $0.headers[.ifNoneMatch] }
        #expect(conditions == [nil, "\"1\"", nil])
    }

    /// A decider may base its request on the original one, which has the condition of the cache.
    @Test func deciderAndCallerKeepTheirOwnConditions() async throws {
        serveMovingPage(.found, [:])
        fixture.agent.reconfigure {
            $0.redirectDecider = { redirect in
                var request = redirect.original
                request.url = redirect.request.url
                request.headers[.ifModifiedSince] = "Fri, 31 Dec 1999 23:59:59 GMT"
                return .follow(request)
            }
        }
        _ = try await get("old")
        fixture.clock.advance(by: .seconds(2))
        #expect(try await get("old").data == Data("here".utf8))
        let sent = fixture.transport.requests
        #expect(sent.map { $0.headers[.ifNoneMatch] } == [nil, "\"1\"", nil])
        let decided = try #require(sent.last)
        #expect(decided.headers[.ifModifiedSince] == "Fri, 31 Dec 1999 23:59:59 GMT")
        let own = try await get("old", [.ifNoneMatch: "\"x\""])
        #expect(own.status == .notModified)
        #expect(fixture.transport.requests.last?.headers[.ifNoneMatch] == "\"x\"")
    }

    // MARK: - Nothing to use

    @Test func onlyIfCachedIsAGatewayTimeout() async throws {
        let only: HTTPFields = [.cacheControl: "only-if-cached"]
        let error = await #expect(throws: RequestError.self) { try await get("a", only) }
        #expect(error?.code == .cacheMiss && error?.response?.status == .gatewayTimeout)
        let response = try await get("a", only) { $0.acceptance.statuses = StatusCodes(200..<600) }
        #expect(response.status == .gatewayTimeout && response.isFromCache)
        #expect(fixture.transport.requests.isEmpty)
        moved(.found, [.cacheControl: "max-age=60"])
        _ = try await get("old")
        let target = await #expect(throws: RequestError.self) { try await get("old", only) }
        #expect(target?.response?.status == .gatewayTimeout && count("/new") == 1)
    }

    // MARK: - Fields

    @Test func namedFieldsAreUsedAfterRevalidationOnly() async throws {
        let note = try #require(HTTPField.Name("X-Note"))
        let headers: HTTPFields = [
            .cacheControl: "max-age=60, no-cache=\"x-note, x-other\"", .eTag: "\"1\"", note: "a",
        ]
        fixture.transport.respond { request in
            request.headers.contains(.ifNoneMatch)
                ? ScriptedResponse(status: .notModified, headers: [.eTag: "\"1\""])
                : ScriptedResponse(status: .ok, headers: headers, body: Data("b".utf8))
        }
        #expect(try await get("a").headers[note] == "a")
        let stored = try await get("a")
        #expect(stored.source == .cacheFresh && stored.headers[note] == nil)
        #expect(stored.headers[.eTag] == "\"1\"" && stored.data == Data("b".utf8))
        let confirmed = try await get("a", [.cacheControl: "no-cache"])
        #expect(confirmed.source == .revalidated && confirmed.headers[note] == "a")
    }

    @Test(arguments: ["no-cache", "no-cache, no-cache=\"x-note\"", "no-cache=\"\""])
    func noCacheWithoutFieldsNeedsRevalidation(control: String) async throws {
        fixture.transport.respond { _ in
            ScriptedResponse(
                status: .ok, headers: [.cacheControl: "max-age=60, " + control, .eTag: "\"1\""])
        }
        for _ in 0..<2 { #expect(try await get("a").source == .network) }
    }

    @Test func cookiesAreStoredForTheirUserOnly() async throws {
        fixture.transport.respond { _ in
            ScriptedResponse(
                status: .ok, headers: [.cacheControl: "max-age=60", .setCookie: "theme=dark"])
        }
        _ = try await get("a") { $0.cache.identity = "ann" }
        let own = try await get("a") { $0.cache.identity = "ann" }
        #expect(own.source == .cacheFresh && own.headers[.setCookie] == "theme=dark")
        #expect(try await get("a") { $0.cache.identity = "bob" }.source == .network)
    }

    @Test func cookiesWithoutAUserAreNotStored() async throws {
        let plain = AgentFixture { $0.usesCookies = false }
        plain.transport.respond { _ in
            ScriptedResponse(
                status: .ok, headers: [.cacheControl: "max-age=60", .setCookie: "session=1"])
        }
        let endpoint = { InlineRequest("a") { $0.cache.policy = .http } }
        #expect(try await endpoint().send(on: plain.agent).headers[.setCookie] == "session=1")
        let stored = try await endpoint().send(on: plain.agent)
        #expect(stored.source == .cacheFresh && stored.headers[.setCookie] == nil)
    }

    /// A 304 updates the response; its cookies are stored for their user only (RFC 9111 §3.2, §4.3.4).
    @Test(arguments: ["ann", nil])
    func cookiesOfAConfirmationAreDelivered(identity: String?) async throws {
        let plain = AgentFixture { $0.usesCookies = false }
        let count = Atomic(0)
        plain.transport.respond { request in
            let number = count.add(1, ordering: .relaxed).newValue
            let isConditional = request.headers.contains(.ifNoneMatch)
            var headers: HTTPFields = [
                .cacheControl: isConditional ? "max-age=60" : "max-age=0", .eTag: "\"1\"",
                .setCookie: "number=\(number)",
            ]
            headers.append(HTTPField(name: .setCookie, value: "also=\(number)"))
            return ScriptedResponse(status: isConditional ? .notModified : .ok, headers: headers)
        }
        let endpoint = {
            InlineRequest("a") {
                $0.cache.policy = .http
                $0.cache.identity = identity
            }
        }
        _ = try await endpoint().send(on: plain.agent)
        let confirmed = try await endpoint().send(on: plain.agent)
        #expect(confirmed.source == .revalidated)
        #expect(confirmed.headers[values: .setCookie] == ["number=2", "also=2"])
        let stored = try await endpoint().send(on: plain.agent)
        #expect(stored.source == .cacheFresh)
        let kept = identity == nil ? [] : ["number=2", "also=2"]
        #expect(stored.headers[values: .setCookie] == kept)
    }

    /// A `HEAD` updates the cookies of a stored response of its user as a 304 does (RFC 9111 §4.3.5).
    @Test(arguments: ["ann", nil])
    func cookiesOfAHeadAreStoredForTheirUserOnly(identity: String?) async throws {
        let plain = AgentFixture { $0.usesCookies = false }
        plain.transport.respond { request in
            ScriptedResponse(
                status: .ok,
                headers: [
                    .cacheControl: request.method == .head ? "max-age=60" : "max-age=0",
                    .eTag: "\"1\"", .setCookie: "by=\(request.method)",
                ])
        }
        let endpoint = { (method: HTTPMethod) in
            InlineRequest("a") {
                $0.method = method
                $0.cache.policy = .http
                $0.cache.identity = identity
                $0.acceptance.format = .any
            }
        }
        _ = try await endpoint(.get).send(on: plain.agent)
        let head = try await endpoint(.head).send(on: plain.agent)
        #expect(head.source == .network)
        let stored = try await endpoint(.get).send(on: plain.agent)
        #expect(stored.source == .cacheFresh)
        #expect(stored.headers[values: .setCookie] == (identity == nil ? [] : ["by=HEAD"]))
    }

    // MARK: - Parts

    /// A server for ten bytes; `tag` is its validator.
    private func serveParts(_ tag: SharedText = SharedText("\"1\"")) {
        fixture.transport.respond { request in
            let whole = Data("0123456789".utf8)
            var headers: HTTPFields = [.cacheControl: "max-age=60", .eTag: tag.value]
            guard let field = request.headers[.range],
                let range = ByteRange.within(field, count: whole.count)
            else { return ScriptedResponse(status: .ok, headers: headers, body: whole) }
            headers[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/10"
            return ScriptedResponse(
                status: .partialContent, headers: headers, body: whole[range])
        }
    }

    private func part(_ range: String) async throws -> Response {
        try await get("a", [.range: "bytes=" + range])
    }

    @Test func partsAreServedAndCombined() async throws {
        serveParts()
        #expect(try await part("2-5").source == .network)
        let inner = try await part("3-4")
        #expect(inner.source == .cacheFresh && inner.status == .partialContent)
        #expect(inner.data == Data("34".utf8) && inner.headers[.contentRange] == "bytes 3-4/10")
        #expect(try await part("6-9").source == .network)
        #expect(try await part("4-8").data == Data("45678".utf8))
        #expect(try await get("a").source == .network)
        #expect(fixture.transport.requests.count == 3)
    }

    @Test func completePartsAreACompleteResponse() async throws {
        serveParts()
        for range in ["4-9", "0-4"] { #expect(try await part(range).source == .network) }
        let whole = try await get("a")
        #expect(whole.source == .cacheFresh && whole.status == .ok)
        #expect(whole.data == Data("0123456789".utf8))
        #expect(whole.headers[.contentRange] == nil && whole.headers[.contentLength] == "10")
        #expect(fixture.transport.requests.count == 2)
    }

    @Test func partOfAnotherVersionReplacesTheStoredOne() async throws {
        let tag = SharedText("\"1\"")
        serveParts(tag)
        _ = try await part("0-4")
        tag.value = "\"2\""
        _ = try await part("5-9")
        #expect(try await part("0-4").source == .network)
        #expect(try await part("6-7").headers[.eTag] == "\"2\"")
        // Now both parts are of version 2.
        #expect(try await get("a").source == .cacheFresh)
    }

    @Test func stalePartIsNotServed() async throws {
        serveParts()
        _ = try await part("0-4")
        fixture.clock.advance(by: .seconds(61))
        #expect(try await part("0-4").source == .network)
    }

    @Test func partsAreInvalidatedAndSeparatedByUser() async throws {
        serveParts()
        _ = try await part("0-4")
        #expect(
            try await get("a", [.range: "bytes=0-4", .authorization: "Bearer a"]).source
                == .network)
        #expect(try await part("0-4").source == .cacheFresh)
        _ = try await get("a", method: .put)
        #expect(try await part("0-4").source == .network)
    }
}

/// A value that a test changes while a server reads it.
private final class SharedText: Sendable {
    private let state: Mutex<String>

    init(_ value: String) { state = Mutex(value) }

    var value: String {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}
