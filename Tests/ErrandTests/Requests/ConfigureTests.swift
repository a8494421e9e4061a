import Errand
import ErrandOutbox
import ErrandTesting
import Foundation
import Synchronization
import TestSupport
import Testing

/// `configure(_:)` of base classes and endpoints, and the groups of the description.
@Suite(.limited) struct ConfigureTests {
    private class Service: BaseRequest {
        override var arguments: Arguments? { ["q": "a", "nonce": 7] }
        override func configure(_ request: inout RequestDescription) {
            super.configure(&request)
            request.json.path = ["data"]
            request.acceptance.rules.append(ResponseRule { _ in .accept })
            request.acceptance.statuses = [200]
            request.interceptors.append { try await $1($0) }
            request.uses.remove(.cookies)
            request.sending.transport.decodesContent = false
        }
    }

    private final class Search: Service, DecodableOutput {
        typealias Output = [Int]
        override var url: EndpointURL { "search" }
        override func configure(_ request: inout RequestDescription) {
            super.configure(&request)
            request.acceptance.rules.append(ResponseRule { _ in .accept })
            request.acceptance.statuses.insert(204)
            request.interceptors.append { try await $1($0) }
            request.uses.remove(.sharedHeaders)
            request.sending.transport.httpVersion = .http11
            request.cache.arguments = request.arguments?.without(["nonce"])
        }
    }

    /// A base class that forgets `super`, and an endpoint that does not.
    private class Careless: Service {
        override func configure(_ request: inout RequestDescription) {
            request.apiVersion = "v2"
        }
    }

    private final class Lost: Careless, DecodableOutput {
        typealias Output = [Int]
        override var url: EndpointURL { "lost" }
        override func configure(_ request: inout RequestDescription) {
            super.configure(&request)
            request.tag = 1
        }
    }

    @Test func bothLevelsApplyAndListsAddUp() {
        let description = Search().makeDescription()
        #expect(description.json.path == ["data"])
        #expect(description.acceptance.rules.count == 2)
        #expect(description.interceptors.count == 2)
        #expect(description.acceptance.statuses.contains(200))
        #expect(description.acceptance.statuses.contains(204))
        #expect(!description.acceptance.statuses.contains(201))
        #expect(description.uses == [.sharedArguments, .authenticators, .cellular])
        #expect(description.sending.transport.decodesContent == false)
        #expect(description.sending.transport.httpVersion == .http11)
        #expect(description.cache.arguments == ["q": "a"])
    }

    /// A copy of a description and its original do not change each other.
    @Test func copiesAreIndependent() {
        let original = Search().makeDescription()
        var copy = original
        copy.json.path = []
        copy.sending.priority = .high
        #expect(original.json.path == ["data"] && original.sending.priority == .normal)
        #expect(copy.json.path == [] && copy.sending.priority == .high)
    }

    /// Ways to use an endpoint.
    enum Way: CaseIterable, Sendable {
        case send, value, startClosures, description, stream, batch, chain, pages, cached, preview
        case outbox
    }

    @Test(arguments: Way.allCases) @MainActor
    func missingCallOfSuperFailsTheStart(way: Way) async throws {
        let fixture = AgentFixture()
        let endpoint = fixture.with(Lost())
        let error: RequestError?
        switch way {
        case .startClosures:
            error = await withCheckedContinuation { continuation in
                endpoint.start { _ in
                    continuation.resume(returning: nil)
                } failure: { _, error in
                    continuation.resume(returning: error)
                }
            }
        case .description:
            error = await #expect(throws: RequestError.self) {
                try await fixture.agent.start(endpoint.makeDescription()).response()
            }
        default:
            error = await #expect(throws: RequestError.self) {
                switch way {
                case .send: _ = try await endpoint.send()
                case .value: _ = try await endpoint.value()
                case .stream: _ = try await endpoint.stream()
                case .batch: _ = try await BatchRequest([endpoint]).send()
                case .chain:
                    let chain = ChainRequest()
                    chain.add(endpoint)
                    _ = try await chain.send()
                case .pages: for try await _ in endpoint.pages(.link) {}
                case .cached: _ = try await endpoint.cachedResponse()
                case .preview:
                    _ = try await fixture.agent.transportRequest(for: endpoint.makeDescription())
                case .outbox:
                    let outbox = Outbox(agent: fixture.agent, store: MemoryOutboxStore())
                    try await outbox.add(endpoint.makeDescription())
                case .startClosures, .description: break
                }
            }
        }
        #expect(error?.code == .invalidConfiguration && error?.stage == .build)
        #expect(error?.message.hasPrefix("Lost.configure(_:), or that of a superclass") == true)
        #expect(fixture.transport.requests.isEmpty)
    }

    /// Each override is read once, then `configure` and last `prepare` change the result.
    @Test func overridesConfigureAndPrepareRunOnceInThisOrder() async throws {
        final class Ordered: BaseRequest {
            let calls = Mutex<[String]>([])
            override var url: EndpointURL {
                calls.withLock { $0.append("url") }
                return "x"
            }
            override func configure(_ request: inout RequestDescription) {
                super.configure(&request)
                calls.withLock { $0.append("configure \(request.url)") }
                request.tag = 2
            }
        }
        let endpoint = Ordered()
        endpoint.tag = 1
        let seen = Mutex<[Int]>([])
        let fixture = AgentFixture {
            $0.prepare = { request in
                seen.withLock { $0.append(request.tag) }
                request.tag = 3
            }
        }
        fixture.transport.on(nil, nil, ScriptedResponse(status: .ok))
        try await fixture.with(endpoint).send()
        #expect(endpoint.calls.withLock { $0 } == ["url", "configure x"])
        #expect(seen.withLock { $0 } == [2])
        #expect(fixture.events.events.allSatisfy { $0.tag == 3 })
    }

    // MARK: - Downloads

    private class Files: BaseRequest, FileOutput {
        let folder: URL
        init(in folder: URL) { self.folder = folder }
        var download: DownloadPlan { .to(folder) { $0.existingFile = .rename } }
        override func configure(_ request: inout RequestDescription) {
            super.configure(&request)
            request.download?.partFolder = folder
        }
    }

    private final class Archive: Files {
        override var url: EndpointURL { "archive" }
        override var download: DownloadPlan { .to(folder) { $0.sha256 = "0f" } }
        override func configure(_ request: inout RequestDescription) {
            super.configure(&request)
            request.download?.segments = 4
        }
    }

    @Test func planOfTheEndpointIsChangedByBothLevels() throws {
        let folder = URL(fileURLWithPath: "/tmp")
        let plan = try #require(Archive(in: folder).makeDescription().download)
        #expect(plan.destination == folder && plan.partFolder == folder)
        #expect(plan.sha256 == "0f" && plan.existingFile == .overwrite)
        #expect(plan.segments == 4)
        let inline = InlineRequest("x") { $0.download = .to(folder) { $0.resumes = false } }
        #expect(inline.makeDescription().download?.resumes == false)
        #expect(Plain("x").makeDescription().download == nil)
    }

    // MARK: - The cache time

    @Test(arguments: [0, -1]) func noCacheTimeNeitherStoresNorReads(seconds: Int) async throws {
        let fixture = AgentFixture()
        fixture.transport.on(.get, "/x", .json("1"))
        try await fixture.with(InlineRequest("x") { $0.cacheSeconds = 60 }).send()
        await fixture.agent.flushCache()
        let none = InlineRequest("x") { $0.cacheSeconds = seconds }
        #expect(try await fixture.with(none).send().source == .network)
        try await fixture.agent.clearCache()
        try await fixture.with(none).send()
        await fixture.agent.flushCache()
        #expect(try await fixture.agent.store?.entries().isEmpty == true)
        #expect(BaseRequest().makeDescription().cacheSeconds == 0)
    }

    // MARK: - The format

    private let page = ScriptedResponse(
        headers: [.contentType: "text/html"], body: Data("<p>".utf8))

    @Test func automaticFormatRequiresJSONOnlyForJSON() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(nil, nil, page)
        func code(_ request: BaseRequest) async -> RequestError.Code? {
            do {
                try await request.send(on: fixture.agent)
                return nil
            } catch {
                return error.code
            }
        }
        #expect(await code(InlineRequest("x")) == nil)
        #expect(await code(InlineRequest("x").decoding(using: .string)) == nil)
        #expect(await code(InlineRequest("x") { $0.validator = .any }) == .unacceptableContentType)
        for decoder in [ResponseDecoder<JSON>.json, .json(), .json.map { $0 }] {
            let typed = InlineRequest("x").decoding(using: decoder)
            #expect(await code(typed) == .unacceptableContentType)
        }
        let text: ResponseDecoder<JSON> = ResponseDecoder.string.map { JSON(stringLiteral: $0) }
        let either = ResponseDecoder<JSON>.firstOf([.json(), text])
        #expect(await code(InlineRequest("x").decoding(using: either)) == nil)
        #expect(await code(InlineRequest("x") { $0.acceptance.format = .json }) != nil)
        let any = InlineRequest("x") {
            $0.validator = .any
            $0.acceptance.contentTypes = ["*/*"]
        }
        #expect(await code(any) == .undecodable)
    }

    // MARK: - JSON

    private struct Note: Codable, Equatable {
        var createdAt: Date
    }

    @Test func optionsOfRequestAndConfigurationAreMerged() async throws {
        let fixture = AgentFixture {
            $0.json.path = ["data"]
            $0.json.keys = .snakeCase
        }
        fixture.transport.on(
            nil, nil,
            .json(
                #"{"data":{"created_at":"1970-01-01T00:00:07Z"},"other":{"created_at":7000}}"#))
        let note = Note(createdAt: Date(timeIntervalSince1970: 7))
        #expect(try await fixture.with(InlineRequest("x")).decoding(Note.self).value() == note)
        let other = InlineRequest("x") {
            $0.method = .post
            $0.body = .json(note)
            $0.json.path = ["other"]
            $0.json.dates = .millisecondsSince1970
        }
        #expect(try await fixture.with(other).decoding(Note.self).value() == note)
        let sent = try await fixture.transport.requests.last?.collectedBody()
        #expect(sent == Data(#"{"created_at":7000}"#.utf8))
        let whole = InlineRequest("x") { $0.json.path = [] }
        let members = try await fixture.with(whole).decoding([String: JSON].self).value()
        #expect(members.keys.sorted() == ["data", "other"])
        let explicit = fixture.with(InlineRequest("x")).decoding(JSON.self, at: ["other"])
        #expect(try await explicit.value()["created_at"].int == 7000)
    }

    @Test func nullsAreRemovedForAllEndpoints() async throws {
        let fixture = AgentFixture { $0.json.removesNulls = true }
        fixture.transport.on(nil, nil, .json(#"{"a":null,"b":1}"#))
        #expect(try await fixture.with(Plain("x")).send().json == ["b": 1])
        let kept = InlineRequest("x") { $0.json.removesNulls = false }
        #expect(try await fixture.with(kept).send().json["a"].isNull)
    }

    // MARK: - Statuses and metadata

    @Test func statusesAreCodesRangesOrARule() {
        var codes: StatusCodes = [200, 404]
        #expect(codes.contains(404) && !codes.contains(201))
        codes.insert(201)
        #expect(codes.contains(201) && codes.contains(200))
        #expect(StatusCodes(200..<202).contains(201) && !StatusCodes(200..<202).contains(202))
        #expect(StatusCodes.any.contains(599) && !StatusCodes.success.contains(300))
        var odd = StatusCodes { $0 % 2 == 1 }
        odd.insert(204)
        #expect(odd.contains(201) && odd.contains(204) && !odd.contains(200))
        // Codes that no response has are ignored.
        #expect(!StatusCodes([Int.max]).contains(.max))
    }

    @Test func outboxRefusesAClosureForStatuses() async throws {
        let fixture = AgentFixture()
        let outbox = Outbox(agent: fixture.agent, store: MemoryOutboxStore())
        let request = InlineRequest("x") { $0.acceptance.statuses = StatusCodes { _ in true } }
        let error = await #expect(throws: RequestError.self) {
            try await outbox.add(request.makeDescription())
        }
        #expect(error?.code == .unsupported && error?.message.contains("statuses") == true)
    }

    @Test func metadataHasNamesBesideTypedKeys() async throws {
        enum Screen: RequestMetadataKey { typealias Value = String }
        let request = Plain("x")
        request.metadata[Screen.self] = "profile"
        request.metadata["screen"] = 7
        let description = request.makeDescription()
        #expect(description.metadata[Screen.self] == "profile")
        #expect(description.metadata["screen"] as? Int == 7)
        request.metadata["screen"] = nil
        request.metadata[Screen.self] = nil
        #expect(request.metadata.isEmpty)
    }
}
