import Errand
import ErrandTesting
import Foundation
import HTTPTypes
@_spi(Reflection) import Swift
import TestSupport
import Testing

/// Every override of an endpoint class reaches the description.
@Suite(.limited) struct OverrideDescriptionTests {
    private struct Nothing: ResponseProcessor {
        func process(_ response: Response, attempt: Int) async throws -> Response { response }
    }
    private struct Unchanged: RequestProcessor {}
    private struct Around: Interceptor {
        func intercept(
            _ request: TransportRequest, next: InterceptorNext
        ) async throws -> Response { try await next(request) }
    }
    private enum Screen: RequestMetadataKey { typealias Value = String }

    /// Overrides every member with a value that is not the default.
    private class Everything: BaseRequest {
        override var url: EndpointURL { "path" }
        override var baseURL: EndpointURL? { "https://own.example/" }
        override var cdnURL: EndpointURL? { "https://own-cdn.example/" }
        override var usesCDN: Bool { true }
        override var apiVersion: String? { "v9" }
        override var method: HTTPMethod { .put }
        override var arguments: Arguments? { ["a": 1, "nonce": 2] }
        override var argumentPlacement: ArgumentPlacement { .query }
        override var requestSerializer: RequestSerializer { .plist }
        override var argumentEncoding: ArgumentEncoding? { ArgumentEncoding() }
        override var body: HTTPBody? { .data(Data("x".utf8), contentType: "text/plain") }
        override var jsonEncoder: FastJSONEncoder? { FastJSONEncoder() }
        override var bodyEncoder: (any BodyEncoder)? { ReversingBodyEncoder() }
        override var headers: HTTPFields { [.from: "a"] }
        override var headerFieldValues: HeaderPairs { ["X-One": "1"] }
        override var authorization: Authorization? { .bearer("t") }
        override var usesSharedHeaders: Bool { false }
        override var usesSharedArguments: Bool { false }
        override var timeouts: Timeouts? { Timeouts(idle: .seconds(7)) }
        override var priority: RequestPriority { .high }
        override var allowsCellularAccess: Bool { false }
        override var retryPolicy: RetryPolicy? { RetryPolicy(maximumAttempts: 4) }
        override var retryDecider: (@Sendable (FailedAttempt) -> RetryVerdict)? { { _ in .giveUp } }
        override var duplicatePolicy: DuplicatePolicy { .join }
        override var redirectPolicy: RedirectPolicy? { RedirectPolicy.none }
        override var securityPolicy: SecurityPolicy? { SecurityPolicy() }
        override var transportOverrides: TransportOverrides? { TransportOverrides() }
        override var usesCookies: Bool { false }
        override var usesAuthenticators: Bool { false }
        override var connectivityPolicy: ConnectivityPolicy? { .failFast }
        override var interceptors: [any Interceptor] { [Around()] }
        override var requestProcessors: [any RequestProcessor] { [Unchanged()] }
        override var responseSerializer: ResponseSerializer { .string }
        override var acceptableStatusCodes: Range<Int> { 200..<201 }
        override var statusCodeValidator: StatusCodeValidator? { .any }
        override var acceptableContentTypes: AcceptableContentTypes { .any }
        override var validator: JSONShape? { .any }
        override var businessValidator: BusinessValidator? { BusinessValidator { _ in .accept } }
        override var removesNulls: Bool { true }
        override var errorDecoder: ErrorDecoder? { ErrorDecoder { _ in nil } }
        override var processors: [any ResponseProcessor] { [Nothing()] }
        override var jsonDecoder: FastJSONDecoder? { FastJSONDecoder() }
        override var cacheSeconds: Int { 60 }
        override var cacheVersion: Int { 3 }
        override var cachePolicy: CachePolicy? { .reload }
        override var cacheIdentity: String? { "user" }
        override func cacheArguments(_ arguments: Arguments?) -> Arguments? { ["a": 1] }
        override var writesCacheAsynchronously: Bool { false }
    }

    private final class File: Everything, FileOutput {
        var destination: URL { URL(fileURLWithPath: "/tmp/file") }
        override var existingFile: DownloadPlan.ExistingFile { .fail }
        override var resumesDownload: Bool { false }
        override var sha256: String? { String(repeating: "a", count: 64) }
        override var downloadOptions: DownloadPlan.Options { .init { $0.computedDigests = [.md5] } }
    }

    private func everything() -> Everything {
        let request = Everything()
        request.tag = 5
        request.userInfo = ["a": 1]
        request.ignoresCache = true
        request.progressHandler = { _ in }
        request.metadata[Screen.self] = "profile"
        return request
    }

    private func members(of description: RequestDescription) -> [String: String] {
        // Not its mirror, which has no children, because members contain secrets.
        var members: [String: String] = [:]
        _forEachFieldWithKeyPath(of: RequestDescription.self) { name, path in
            members[String(cString: name)] = String(describing: description[keyPath: path])
            return true
        }
        return members
    }

    @Test func everyMemberOfTheDescriptionIsSetByAnOverride() {
        let plain = members(of: BaseRequest().describe())
        let full = members(of: everything().describe())
        let unchanged = plain.filter { full[$0.key] == $0.value }.keys.sorted()
        // These are set by `customURLRequest()`, by the output of a class, and by other parts of the framework.
        #expect(
            unchanged == [
                "decode", "isBackgroundRevalidation", "isStreamed", "isURLFiltered", "mistake",
            ])
        #expect(plain.count == full.count && plain.count > 38)
    }

    @Test func rareMembersAreSet() {
        let description = everything().describe()
        #expect(description.interceptors.count == 1)
        #expect(description.requestProcessors.count == 1)
        #expect(description.retryDecider != nil)
        #expect(description.jsonEncoder != nil)
        #expect(description.argumentEncoding != nil && description.bodyEncoder != nil)
        #expect(description.authorization != nil && description.retryPolicy != nil)
        #expect(description.redirectPolicy != nil && description.securityPolicy != nil)
        #expect(description.transportOverrides != nil && description.timeouts != nil)
        #expect(description.statusCodeValidator != nil && description.errorDecoder != nil)
        #expect(description.metadata[Screen.self] == "profile")
    }

    @Test func valuesAreThoseOfTheOverrides() {
        let description = everything().describe()
        #expect(description.baseURL == "https://own.example/")
        #expect(description.cdnURL == "https://own-cdn.example/")
        #expect(description.apiVersion == "v9")
        #expect(description.argumentPlacement == .query)
        #expect(!description.usesSharedHeaders && !description.usesSharedArguments)
        #expect(!description.allowsCellularAccess)
        #expect(description.redirectPolicy == RedirectPolicy.none)
        #expect(description.acceptsStatus(404))
        #expect(description.cacheArguments == ["a": 1])
        #expect(description.cacheVersion == 3 && description.cacheIdentity == "user")
        #expect(description.priority == .high && description.tag == 5)
    }

    @Test func downloadMembersReachThePlan() throws {
        let plan = try #require(File().describe().download)
        #expect(plan.destination.path == "/tmp/file")
        #expect(plan.existingFile == .fail && !plan.resumes)
        #expect(plan.sha256 == String(repeating: "a", count: 64))
        #expect(plan.options.computedDigests == [.md5])
    }

    // MARK: - Effects, through an agent

    private final class Placed: BaseRequest {
        override var url: EndpointURL { "x" }
        override var baseURL: EndpointURL? { "https://own.example/api/" }
        override var apiVersion: String? { "v2" }
        override var method: HTTPMethod { .post }
        override var arguments: Arguments? { ["list": [1, 2]] }
        override var argumentPlacement: ArgumentPlacement { .query }
        override var argumentEncoding: ArgumentEncoding? { ArgumentEncoding(arrays: .repeated) }
        override var usesSharedHeaders: Bool { false }
        override var usesSharedArguments: Bool { false }
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
        override var cdnURL: EndpointURL? { "https://own-cdn.example/" }
        override var usesCDN: Bool { true }
        override var bodyEncoder: (any BodyEncoder)? { ReversingBodyEncoder() }
        override var method: HTTPMethod { .put }
        override var body: HTTPBody? { .data(Data("abc".utf8), contentType: "text/plain") }
        override var redirectPolicy: RedirectPolicy? { RedirectPolicy.none }
        override var statusCodeValidator: StatusCodeValidator? { .codes([302]) }
        override var allowsCellularAccess: Bool { false }
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
