import Errand
import ErrandTesting
import Foundation
import HTTPTypes
@_spi(Reflection) import Swift
import TestSupport
import Testing

/// Every override of an endpoint class reaches the description.
@Suite(.limited) struct OverrideDescriptionTests {
    private struct Around: Interceptor {
        func intercept(
            _ request: TransportRequest, next: TransportRequest.Next
        ) async throws -> Response { try await next(request) }
    }
    private enum Screen: RequestMetadataKey { typealias Value = String }

    /// Overrides every member with a value that is not the default.
    private class Everything: BaseRequest {
        override var url: EndpointURL { "path" }
        override var baseURL: EndpointURL? { "https://own.example/" }
        override func configure(_ request: inout RequestDescription) {
            super.configure(&request)
            request.json.data = .numbers
            request.json.floats = .text(positive: "+", negative: "-", nan: "nan")
            request.json.keys = .snakeCase
            request.json.dates = .secondsSince1970
            request.cdnURL = "https://own-cdn.example/"
            request.apiVersion = "v9"
            request.argumentPlacement = .query
            request.encoding = ArgumentEncoding()
            request.compression = ReversingBodyEncoder()
            request.headers[.custom("X-One")] = "1"
            request.authorization = .bearer("t")
            request.uses.remove(.sharedHeaders)
            request.uses.remove(.sharedArguments)
            request.sending.priority = .high
            request.uses.remove(.cellular)
            request.sending.retryDecider = { _ in .giveUp }
            request.sending.duplicates = .join
            request.sending.redirects = RedirectPolicy.none
            request.sending.security = SecurityPolicy()
            request.sending.transport.httpVersion = .http2
            request.uses.remove(.cookies)
            request.uses.remove(.authenticators)
            request.sending.connectivity = .failFast
            request.interceptors += [Around()]
            request.requestProcessors.append { _, _, _ in }
            request.acceptance.format = .text
            request.acceptance.statuses = .any
            request.acceptance.contentTypes = ["*/*"]
            request.acceptance.rules.append(ResponseRule { _ in .accept })
            request.json.removesNulls = true
            request.responseProcessors.append { _ in }
            request.cache.policy = .reload
            request.cache.identity = "user"
            request.cache.arguments = ["a": 1]
            request.cache.writesAsynchronously = false
            request.cache.maximumStaleness = .seconds(9)
            request.cache.transform = { $0 }
            request.json.path = ["data"]
        }
        override var usesCDN: Bool { true }
        override var method: HTTPMethod { .put }
        override var arguments: Arguments? { ["a": 1, "nonce": 2] }
        override var requestSerializer: RequestSerializer { .plist }
        override var body: HTTPBody? { .data(Data("x".utf8), contentType: "text/plain") }
        override var headers: HTTPFields { [.from: "a"] }
        override var timeouts: Timeouts? { Timeouts(idle: .seconds(7)) }
        override var retryPolicy: RetryPolicy? { RetryPolicy(maximumAttempts: 4) }
        override var validator: JSONShape? { .any }
        override var errorDecoder: ErrorDecoder? { ErrorDecoder { _ in nil } }
        override var cacheSeconds: Int { 60 }
        override var cacheVersion: Int { 3 }
    }

    private final class File: Everything, FileOutput {
        var download: DownloadPlan {
            .to(URL(fileURLWithPath: "/tmp/file")) {
                $0.existingFile = .fail
                $0.resumes = false
                $0.sha256 = String(repeating: "a", count: 64)
                $0.computedDigests = [.md5]
            }
        }
    }

    private func everything() -> Everything {
        let request = Everything()
        request.tag = 5
        request.ignoresCache = true
        request.metadata[Screen.self] = "profile"
        return request
    }

    private func members<Group>(of group: Group) -> [String: String] {
        // Not its mirror: that of a description has no children, because members contain secrets.
        var members: [String: String] = [:]
        _forEachFieldWithKeyPath(of: Group.self) { name, path in
            members[String(cString: name)] = String(describing: group[keyPath: path])
            return true
        }
        return members
    }

    /// The members that have the same value in both.
    private func unchanged<Group>(_ plain: Group, _ full: Group) -> [String] {
        let full = members(of: full)
        return members(of: plain).filter { full[$0.key] == $0.value }.keys.sorted()
    }

    @Test func everyMemberOfTheDescriptionIsSet() {
        let plain = BaseRequest().makeDescription()
        let full = everything().makeDescription()
        // These are set by the output of a class, and by other parts of the framework.
        #expect(
            unchanged(plain, full) == [
                "decode", "hasJSONOutput", "isBackgroundRevalidation", "isPrepared", "isStreamed",
                "jsonDecoder", "mistake", "reachedBaseClass", "upgrade",
            ])
        #expect(members(of: plain).count > 22)
        #expect(unchanged(plain.json, full.json).isEmpty)
        #expect(unchanged(plain.sending, full.sending).isEmpty)
        #expect(unchanged(plain.acceptance, full.acceptance).isEmpty)
        #expect(unchanged(plain.cache, full.cache).isEmpty)
        #expect(full.uses == [] && plain.uses == .all)
    }

    @Test func rareMembersAreSet() {
        let description = everything().makeDescription()
        #expect(description.interceptors.count == 1)
        #expect(description.requestProcessors.count == 1)
        #expect(description.sending.retryDecider != nil)
        #expect(description.json.dates != nil)
        #expect(description.encoding != nil && description.compression != nil)
        #expect(description.authorization != nil && description.retryPolicy != nil)
        #expect(description.sending.redirects != nil && description.sending.security != nil)
        #expect(!description.sending.transport.isEmpty && description.timeouts != nil)
        #expect(description.acceptance.statuses.contains(404) && description.errorDecoder != nil)
        #expect(description.metadata[Screen.self] == "profile")
    }

    @Test func valuesAreThoseOfTheOverrides() {
        let description = everything().makeDescription()
        #expect(description.baseURL == "https://own.example/")
        #expect(description.cdnURL == "https://own-cdn.example/")
        #expect(description.apiVersion == "v9")
        #expect(description.argumentPlacement == .query)
        #expect(
            !description.uses.contains(.sharedHeaders)
                && !description.uses.contains(.sharedArguments))
        #expect(!description.uses.contains(.cellular))
        #expect(description.sending.redirects == RedirectPolicy.none)
        #expect(description.acceptsStatus(404))
        #expect(description.cache.arguments == ["a": 1])
        #expect(description.cacheVersion == 3 && description.cache.identity == "user")
        #expect(description.sending.priority == .high && description.tag == 5)
    }

    @Test func downloadMembersReachThePlan() throws {
        let plan = try #require(File().makeDescription().download)
        #expect(plan.destination.path == "/tmp/file")
        #expect(plan.existingFile == .fail && !plan.resumes)
        #expect(plan.sha256 == String(repeating: "a", count: 64))
        #expect(plan.computedDigests == [.md5])
    }

    // MARK: - Effects, through an agent

    private final class Placed: BaseRequest {
        override var url: EndpointURL { "x" }
        override var baseURL: EndpointURL? { "https://own.example/api/" }
        override func configure(_ request: inout RequestDescription) {
            super.configure(&request)
            request.apiVersion = "v2"
            request.argumentPlacement = .query
            request.encoding = ArgumentEncoding(arrays: .repeated)
            request.uses.remove(.sharedHeaders)
            request.uses.remove(.sharedArguments)
        }
        override var method: HTTPMethod { .post }
        override var arguments: Arguments? { ["list": [1, 2]] }
    }

    @Test func placementEncodingAndSharedValuesHaveTheirEffect() async throws {
        let fixture = AgentFixture {
            $0.sharedHeaders = [.from: "shared"]
            $0.sharedArguments = ["key": "k"]
        }
        fixture.transport.respond { _ in .json("{}") }
        try await Placed().send(on: fixture.agent)
        let request = try #require(fixture.transport.requests.first)
        #expect(request.url.string == "https://own.example/api/v2/x?list=1&list=2")
        #expect(request.headers[.from] == nil)
    }

    private final class FromCDN: BaseRequest {
        override var url: EndpointURL { "x" }
        override func configure(_ request: inout RequestDescription) {
            super.configure(&request)
            request.cdnURL = "https://own-cdn.example/"
            request.compression = ReversingBodyEncoder()
            request.sending.redirects = RedirectPolicy.none
            request.acceptance.statuses = [302]
            request.uses.remove(.cellular)
        }
        override var usesCDN: Bool { true }
        override var method: HTTPMethod { .put }
        override var body: HTTPBody? { .data(Data("abc".utf8), contentType: "text/plain") }
    }

    @Test func hostBodyRedirectAndStatusHaveTheirEffect() async throws {
        let fixture = AgentFixture()
        fixture.transport.respond { _ in
            ScriptedResponse(status: .found, headers: [.location: "/elsewhere"])
        }
        let response = try await FromCDN().send(on: fixture.agent)
        let request = try #require(fixture.transport.requests.first)
        #expect(response.status == .found && fixture.transport.requests.count == 1)
        #expect(request.url.string == "https://own-cdn.example/x")
        let bytes = try await request.body?.bytes()
        #expect(bytes == Data("cba".utf8))
        #expect(!request.options.allowsCellularAccess)
    }

    private struct Problem: Decodable, Sendable, Equatable { let reason: String }
    private final class Failing: BaseRequest {
        override var url: EndpointURL { "x" }
        override var errorDecoder: ErrorDecoder? {
            ErrorDecoder { try $0.decode(Problem.self) }
        }
    }

    @Test func errorDecoderHasItsEffect() async throws {
        let fixture = AgentFixture()
        fixture.transport.respond { _ in .json(#"{"reason": "no"}"#, status: .badRequest) }
        let error = await #expect(throws: RequestError.self) {
            try await Failing().send(on: fixture.agent)
        }
        #expect(error?.body(as: Problem.self) == Problem(reason: "no"))
    }
}
