import Errand
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

// Endpoints of an app that override every member. They contain no concurrency annotations.

final class Register: BaseRequest {
    let username: String
    let password: String
    var attempts = 0
    var finished = false

    init(username: String, password: String) {
        self.username = username
        self.password = password
    }

    // URL
    override var url: EndpointURL { "/iphone/register" }
    override var baseURL: EndpointURL? { "https://api.example.com" }
    override var cdnURL: EndpointURL? { nil }
    override var usesCDN: Bool { false }
    override var apiVersion: String? { "v5" }
    // Request
    override var method: HTTPMethod { .post }
    override var arguments: Arguments? {
        [
            "username": username, "password": password, "tags": ["a", "b"],
            "invitedBy": nil as String?,
        ]
    }
    override var argumentPlacement: ArgumentPlacement { .body }
    override var requestSerializer: RequestSerializer { .json }
    override var headers: HTTPFields { [.accept: "application/json"] }
    override var headerFieldValues: HeaderPairs { ["X-Trace": "\(tag)"] }
    override var authorization: Authorization? { .basic(user: username, password: password) }
    override var usesSharedHeaders: Bool { false }
    override var usesSharedArguments: Bool { false }
    // Transfer
    override var timeouts: Timeouts? { Timeouts(connect: .seconds(5), idle: .seconds(20)) }
    override var priority: RequestPriority { .high }
    override var allowsCellularAccess: Bool { false }
    override var retryPolicy: RetryPolicy? { .attempts(3) }
    override var duplicatePolicy: DuplicatePolicy { .reject }
    override var redirectPolicy: RedirectPolicy? { RedirectPolicy.none }
    override var securityPolicy: SecurityPolicy? { SecurityPolicy() }
    override var transportOverrides: TransportOverrides? { TransportOverrides(httpVersion: .http2) }
    override var usesCookies: Bool { false }
    override var connectivityPolicy: ConnectivityPolicy? { .failFast }
    override var retryDecider: RetryDecider? {
        { failed in failed.error.status == 418 ? .giveUp : .asPolicy }
    }
    override var interceptors: [any Interceptor] { [Stamp()] }
    override var requestProcessors: [any RequestProcessor] {
        [ClosureRequestProcessor { request, _, attempt in request.headers[.from] = "\(attempt)" }]
    }
    // Response
    override var responseSerializer: ResponseSerializer { .json }
    override var acceptableStatusCodes: Range<Int> { 200..<202 }
    override var acceptableContentTypes: AcceptableContentTypes { .types(["application/json"]) }
    override var validator: JSONShape? { ["userId": .number, "nick": .string, "level": .number] }
    override var processors: [any ResponseProcessor] { [BusinessCheck()] }
    // Cache
    override var cacheSeconds: Int { 180 }
    override var cacheVersion: Int { 2 }
    override var cachePolicy: CachePolicy? { .loadElseCache }
    override var cacheIdentity: String? { username }
    override func cacheArguments(_ arguments: Arguments?) -> Arguments? { ["username": username] }
    override var writesCacheAsynchronously: Bool { false }
    // Hooks
    override func willStart() {
        attempts += 1
        metadata[ScreenKey.self] = "register"
    }
    override func didFinish() { finished = true }
    override func didFail() { finished = false }

    var userId: Int? { response?.json["userId"].int }
}

final class Upload: BaseRequest {
    let file: URL
    init(file: URL) { self.file = file }
    override var url: EndpointURL { "/upload" }
    override var method: HTTPMethod { .put }
    override var body: HTTPBody? { .file(file, contentType: "image/jpeg") }
}

final class Custom: BaseRequest {
    override func customURLRequest() -> URLRequest? {
        guard let url = URL(string: "https://api.example.com/custom") else { return nil }
        var request = URLRequest(url: url)
        request.httpMethod = "PATCH"
        return request
    }
}

final class Nick: Request<String> {
    override var url: EndpointURL { "/nick" }
    override var decoder: ResponseDecoder<String> {
        ResponseDecoder { response in response.json["nick"].string ?? "" }
    }
}

final class GetUser: JSONRequest<User> {
    let id: Int
    init(id: Int) { self.id = id }
    override var url: EndpointURL { "/iphone/users" }
    override var arguments: Arguments? { ["id": id] }
    override var cacheSeconds: Int { 180 }
}

final class Photo: DownloadRequest {
    let folder: URL
    init(folder: URL) { self.folder = folder }
    override var url: EndpointURL { "/photo.jpg" }
    override var usesCDN: Bool { true }
    override var destination: URL { folder }
    override var existingFile: DownloadPlan.ExistingFile { .rename }
    override var resumesDownload: Bool { true }
    override var sha256: String? { nil }
}

// Base classes of an app, generic or not.

class AppRequest<Output: Codable & Sendable>: JSONRequest<Output> {
    var session = ""
    override var apiVersion: String? { "v2" }
    override var authorization: Authorization? { .bearer(session) }
    override var processors: [any ResponseProcessor] { [BusinessCheck()] }
    override func willStart() { tag += 1 }
}

class PageRequest<Item: Codable & Sendable>: AppRequest<Page<Item>> {
    var page = 1
    override var arguments: Arguments? { ["page": page] }
}

final class Users: PageRequest<User> {
    override var url: EndpointURL { "/users" }
    override var jsonDecoder: FastJSONDecoder {
        var decoder = FastJSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return decoder
    }

}

final class Rules: JSONRequest<[User]?> {
    override var url: EndpointURL { "/rules" }
    override var method: HTTPMethod { .post }
    override var argumentEncoding: ArgumentEncoding? { .webForm }
    override var bodyEncoder: (any BodyEncoder)? { .gzip }
    override var statusCodeValidator: StatusCodeValidator? { .codes([200, 204]) }
    override var businessValidator: BusinessValidator? {
        BusinessValidator { response in
            response.json["error"].int.map { .reject(BusinessError(number: $0)) } ?? .accept
        }
    }
    override var removesNulls: Bool { true }
    override var errorDecoder: ErrorDecoder? { .json(User.self) }
    override var outputPath: [String] { ["data", "users"] }
}

final class Forget: BaseRequest, VoidOutput {
    override var url: EndpointURL { "/users/7" }
    override var method: HTTPMethod { .delete }
}

final class Words: Request<[String]> {
    override var url: EndpointURL { "/words" }
    override var responseSerializer: ResponseSerializer { .compound([.json, .string]) }
    override var decoder: ResponseDecoder<[String]> {
        .firstOf([.json(), ResponseDecoder.string.map { [$0] }])
    }
}

final class CreateUser: JSONRequest<User> {
    let user: User
    init(user: User) { self.user = user }
    override var url: EndpointURL { "/users" }
    override var method: HTTPMethod { .post }
    override var body: HTTPBody? { .json(user) }
    override var jsonEncoder: FastJSONEncoder? { .requestDefault }
}

final class FilterUsers: BaseRequest {
    let user: User
    init(user: User) { self.user = user }
    override var url: EndpointURL { "/users" }
    override var arguments: Arguments? { Arguments(encoding: user) }
}
