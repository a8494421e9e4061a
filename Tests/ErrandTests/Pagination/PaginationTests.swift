import Errand
import ErrandTesting
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// Pages of a list by `Link` header, cursor, offset, number, and by a rule of the caller.
@Suite(.limited) struct PaginationTests {
    private class Service: BaseRequest {
    }

    /// A list of numbers, ten for each page.
    private final class Numbers: Service, DecodableOutput {
        typealias Output = [Int]
        var wanted: Arguments?
        var hooks: [String] = []
        var seconds = -1
        var token: String?
        var counting: Arguments?
        override var url: EndpointURL { "numbers" }
        override func configure(_ request: inout RequestDescription) {
            super.configure(&request)
            request.authorization = token.map { .bearer($0) }
            request.cache.arguments = counting ?? request.arguments
        }
        override var arguments: Arguments? { wanted }
        override var cacheSeconds: Int { seconds }
        override func willStart() { hooks.append("start") }
        override func didFinish() { hooks.append("finish") }
        override func didFail() { hooks.append("fail") }
    }

    private final class Wrapped: Service, DecodableOutput {
        struct Output: Decodable { let items: [Int] }
        override var url: EndpointURL { "wrapped" }
    }

    private static func page(_ text: String, next: String? = nil) -> ScriptedResponse {
        var headers: HTTPFields = [.contentType: "application/json"]
        if let next, let link = HTTPField.Name("Link") {
            headers[link] = "<\(next)>; rel=\"next\", </numbers>; rel=\"first\""
        }
        return ScriptedResponse(status: .ok, headers: headers, body: Data(text.utf8))
    }

    private func linked(_ configure: (inout Configuration) -> Void = { _ in }) -> AgentFixture {
        let fixture = AgentFixture(configure)
        fixture.transport.respond { request in
            switch request.url.query {
            case "page=2", "page=2&key=k": Self.page("[3, 4]", next: "?page=3")
            case "page=3", "page=3&key=k": Self.page("[5]")
            default: Self.page("[1, 2]", next: "https://api.example.com/numbers?page=2")
            }
        }
        return fixture
    }

    private func queries(_ fixture: AgentFixture) -> [String] {
        fixture.transport.requests.map { $0.url.query ?? "" }
    }

    @Test func linksLeadFromPageToPage() async throws {
        let fixture = linked()
        let request = Numbers()
        var (pages, queries): ([[Int]], [String?]) = ([], [])
        for try await page in request.pages(on: fixture.agent) {
            pages.append(page)
            queries.append(request.response?.url.query)
        }
        #expect(pages == [[1, 2], [3, 4], [5]])
        #expect(queries == [nil, "page=2", "page=3"])
        #expect(request.hooks == ["start", "finish", "start", "finish", "start", "finish"])
        #expect(request.output == [5])
    }

    @Test func itemsComeFromAllPages() async throws {
        let fixture = linked()
        var found: [Int] = []
        for try await number in Numbers().items(on: fixture.agent) {
            found.append(number)
        }
        #expect(found == [1, 2, 3, 4, 5])
    }

    @Test func itemsOfAnEnvelopeAreSelected() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(.get, "/wrapped", Self.page(#"{"items": [1, 2]}"#))
        var found: [Int] = []
        let items = Wrapped().items(
            .number("page", items: ["items"]), limit: 2, on: fixture.agent, of: \.items)
        for try await number in items { found.append(number) }
        #expect(found == [1, 2, 1, 2])
        #expect(queries(fixture) == ["page=1", "page=2"])
    }

    @Test func linkReplacesOwnArgumentsAndKeepsSharedOnes() async throws {
        let fixture = linked { $0.sharedArguments = ["key": "k"] }
        let request = Numbers()
        request.wanted = ["state": "open"]
        for try await _ in request.pages(.link, on: fixture.agent) {}
        #expect(queries(fixture) == ["key=k&state=open", "page=2&key=k", "page=3&key=k"])
    }

    @Test func leavingTheLoopRequestsNoFurtherPage() async throws {
        let fixture = linked()
        for try await _ in Numbers().pages(.link, on: fixture.agent) { break }
        #expect(fixture.transport.requests.count == 1)
    }

    @Test func limitEndsTheSequenceBeforeAFurtherRequest() async throws {
        let fixture = linked()
        var count = 0
        for try await _ in Numbers().pages(.link, limit: 2, on: fixture.agent) { count += 1 }
        #expect(count == 2 && fixture.transport.requests.count == 2)
        for try await _ in Numbers().pages(.link, limit: 0, on: fixture.agent) { count += 1 }
        #expect(count == 2 && fixture.transport.requests.count == 2)
    }

    @Test func linkToAnotherOriginIsRefused() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(
            .get, "/numbers", Self.page("[1]", next: "https://evil.example/numbers?page=2"))
        let error = await #expect(throws: RequestError.self) {
            for try await _ in Numbers().pages(.link, on: fixture.agent) {}
        }
        #expect(error?.code == .unsafeRedirect)
        #expect(fixture.transport.requests.count == 1)
    }

    /// Otherwise the server that a redirect leads to would receive the credentials with the second page.
    @Test func originOfARedirectReceivesNoFurtherPage() async throws {
        let fixture = AgentFixture()
        fixture.transport.respond { request in
            if request.url.host == "evil.example" { return Self.page("[1]", next: "?page=2") }
            return ScriptedResponse(
                status: .found, headers: [.location: "https://evil.example/numbers"])
        }
        let request = Numbers()
        request.token = "secret"
        let error = await #expect(throws: RequestError.self) {
            for try await _ in request.pages(.link, on: fixture.agent) {}
        }
        #expect(error?.code == .unsafeRedirect)
        #expect(error?.message.contains("https://api.example.com") == true)
        #expect(
            fixture.transport.requests.map { $0.headers[.authorization] } == ["Bearer secret", nil])
    }

    @Test func loopOfLinksEndsWithAnError() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(.get, "/numbers", Self.page("[1]", next: "/numbers?page=2"))
        var pages = 0
        let error = await #expect(throws: RequestError.self) {
            for try await _ in Numbers().pages(.link, on: fixture.agent) { pages += 1 }
        }
        #expect(error?.code == .badServerResponse)
        #expect(pages == 1 && fixture.transport.requests.count == 2)
    }

    @Test func cursorComesFromTheJSON() async throws {
        let fixture = AgentFixture()
        fixture.transport.respond { request in
            switch request.url.query {
            case "cursor=b": Self.page(#"{"items": [2], "meta": {"next": 7}}"#)
            case "cursor=7": Self.page(#"{"items": [3], "meta": {"next": null}}"#)
            default: Self.page(#"{"items": [1], "meta": {"next": "b"}}"#)
            }
        }
        let pages = Wrapped().pages(.cursor("cursor", at: ["meta", "next"]), on: fixture.agent)
        var found: [[Int]] = []
        for try await page in pages { found.append(page.items) }
        #expect(found == [[1], [2], [3]])
    }

    @Test func cursorOfAnotherTypeIsAnError() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(.get, "/wrapped", Self.page(#"{"items": [1], "next": {}}"#))
        let error = await #expect(throws: RequestError.self) {
            for try await _ in Wrapped().pages(.cursor("cursor", at: ["next"]), on: fixture.agent) {
            }
        }
        #expect(error?.code == .undecodable)
        #expect(error?.message.contains("$.next") == true)
    }

    @Test func cursorComesFromAHeader() async throws {
        let fixture = AgentFixture()
        fixture.transport.respond { request in
            var headers: HTTPFields = [.contentType: "application/json"]
            if request.url.query == nil { headers[.eTag] = "second" }
            return ScriptedResponse(status: .ok, headers: headers, body: Data("[1]".utf8))
        }
        let pages = Numbers().pages(.cursor("after") { $0.header("etag") }, on: fixture.agent)
        for try await _ in pages {}
        #expect(queries(fixture) == ["", "after=second"])
    }

    @Test func offsetCountsTheItemsAndEndsWithAnEmptyPage() async throws {
        let fixture = AgentFixture()
        fixture.transport.respond { request in
            switch request.url.query {
            case "offset=0&limit=3": Self.page("[1, 2]")
            case "offset=2&limit=3": Self.page("[3]")
            default: Self.page("[]")
            }
        }
        var found: [[Int]] = []
        for try await page in Numbers().pages(
            .offset("offset", limit: ("limit", 3)), on: fixture.agent)
        {
            found.append(page)
        }
        #expect(found == [[1, 2], [3], []])
        #expect(queries(fixture) == ["offset=0&limit=3", "offset=2&limit=3", "offset=3&limit=3"])
    }

    @Test(arguments: [0, 1])
    func numberEndsWithAnEmptyPage(start: Int) async throws {
        let fixture = AgentFixture()
        fixture.transport.on(
            .get, "/wrapped", Self.page(#"{"items": [1]}"#), Self.page(#"{"items": [2]}"#),
            Self.page(#"{"items": []}"#))
        let pagination = Pagination.number(
            "page", from: start, limit: ("size", 1), items: ["items"])
        var found: [Int] = []
        for try await page in Wrapped().pages(pagination, limit: 9, on: fixture.agent) {
            found += page.items
        }
        #expect(found == [1, 2])
        #expect(queries(fixture) == (start..<start + 3).map { "page=\($0)&size=1" })
    }

    @Test func totalSavesTheEmptyPage() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(.get, "/wrapped", Self.page(#"{"items": [1, 2], "total": 4}"#))
        let pagination = Pagination.offset("offset", items: ["items"], total: ["total"])
        for try await _ in Wrapped().pages(pagination, on: fixture.agent) {}
        #expect(queries(fixture) == ["offset=0", "offset=2"])
    }

    @Test func missingItemsAreAnError() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(.get, "/wrapped", Self.page(#"{"items": [1]}"#))
        let error = await #expect(throws: RequestError.self) {
            for try await _ in Wrapped().pages(.offset("offset"), on: fixture.agent) {}
        }
        #expect(error?.code == .undecodable)
    }

    @Test func pageFromTheCacheIsNotRequestedAgain() async throws {
        let fixture = linked()
        let request = Numbers()
        request.seconds = 60
        for _ in 0..<2 {
            for try await _ in request.pages(.link, on: fixture.agent) {}
            await fixture.agent.flushCache()
        }
        #expect(fixture.transport.requests.count == 3)
    }

    @Test func pagesHaveCacheEntriesOfTheirOwn() async throws {
        let fixture = AgentFixture()
        fixture.transport.respond { request in
            request.url.query?.contains("page=1") == true ? Self.page("[1]") : Self.page("[]")
        }
        let request = Numbers()
        request.seconds = 60
        request.wanted = ["id": 7, "time": 1]
        request.counting = ["id": 7]
        var found: [[Int]] = []
        for try await page in request.pages(.number("page"), limit: 3, on: fixture.agent) {
            found.append(page)
            await fixture.agent.flushCache()
        }
        #expect(found == [[1], []])
    }

    @Test func failureOfAPageEndsTheSequence() async throws {
        let fixture = AgentFixture()
        fixture.transport.respond { request in
            request.url.query == nil
                ? Self.page("[1]", next: "?page=2") : ScriptedResponse(status: .internalServerError)
        }
        let request = Numbers()
        var iterator = request.pages(.link, on: fixture.agent).makeAsyncIterator()
        let first = try await iterator.next()
        #expect(first == [1])
        let error: RequestError?
        do {
            _ = try await iterator.next()
            error = nil
        } catch let thrown { error = thrown as? RequestError }
        #expect(error?.code == .unacceptableStatus)
        let afterTheError = try await iterator.next()
        #expect(afterTheError == nil)
        #expect(request.hooks == ["start", "finish", "start", "fail"])
    }

    @Test func errorOfTheRuleEndsTheSequence() async throws {
        struct Refused: Error {}
        let fixture = linked()
        let error = await #expect(throws: RequestError.self) {
            let pagination = Pagination { _, _ in throw Refused() }
            for try await _ in Numbers().pages(pagination, on: fixture.agent) {}
        }
        #expect(error?.code == .processingFailed && error?.underlying is Refused)
    }

    @Test func untypedEndpointHasPagesOfResponses() async throws {
        let fixture = linked()
        var statuses: [Int] = []
        for try await page in InlineRequest("numbers").responsePages(.link, on: fixture.agent) {
            statuses.append(page.statusCode)
        }
        #expect(statuses == [200, 200, 200])
    }

    @Test func cancellationEndsTheRequestInProgress() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(.get, "/numbers", .silence)
        let task = Task {
            for try await _ in Numbers().pages(.link, on: fixture.agent) {}
        }
        _ = try await fixture.transport.nextRequest()
        task.cancel()
        let error = await #expect(throws: RequestError.self) { try await task.value }
        #expect(error?.isCancellation == true)
    }
}
