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
    override func configure(_ request: inout RequestDescription) {
        super.configure(&request)
        request.cdnURL = "https://cdn.example.com"
        request.apiVersion = "v5"
        request.argumentPlacement = .body
        request.headers[.custom("X-Trace")] = "\(tag)"
        request.authorization = .basic(user: username, password: password)
        request.uses.remove(.sharedHeaders)
        request.uses.remove(.sharedArguments)
        request.sending.priority = .high
        request.uses.remove(.cellular)
        request.sending.duplicates = .reject
        request.sending.redirects = RedirectPolicy.none
        request.sending.security = SecurityPolicy()
        request.sending.transport = TransportOverrides(httpVersion: .http2)
        request.uses.remove(.cookies)
        request.sending.connectivity = .failFast
        request.sending.retryDecider = { failed in failed.error.status == 418 ? .giveUp : .asPolicy
        }
        request.interceptors += [Stamp()]
        request.requestProcessors.append { request, _, attempt in
            request.headers[.from] = "\(attempt)"
        }
        request.acceptance.format = .json
        request.acceptance.statuses = StatusCodes(200..<202)
        request.acceptance.contentTypes = ["application/json"]
        request.responseProcessors.append(BusinessCheck().process)
        request.cache.policy = .loadElseCache
        request.cache.identity = username
        request.cache.arguments = ["username": username]
        request.cache.writesAsynchronously = false
    }
    override var usesCDN: Bool { false }
    // Request
    override var method: HTTPMethod { .post }
    override var arguments: Arguments? {
        [
            "username": username, "password": password, "tags": ["a", "b"],
            "invitedBy": nil as String?,
        ]
    }
    override var requestSerializer: RequestSerializer { .json }
    override var headers: HTTPFields { [.accept: "application/json"] }
    // Transfer
    override var timeouts: Timeouts? { Timeouts(connect: .seconds(5), idle: .seconds(20)) }
    override var retryPolicy: RetryPolicy? { .attempts(3) }
    // Response
    override var validator: JSONShape? { ["userId": .number, "nick": .string, "level": .number] }
    // Cache
    override var cacheSeconds: Int { 180 }
    override var cacheVersion: Int { 2 }
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
    override func configure(_ request: inout RequestDescription) {
        super.configure(&request)
        guard let url = URL(string: "https://api.example.com/custom") else { return }
        var patch = URLRequest(url: url)
        patch.httpMethod = "PATCH"
        request.use(patch)
    }
}

final class Nick: BaseRequest, TypedRequest {
    override var url: EndpointURL { "/nick" }
    var decoder: ResponseDecoder<String> {
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

final class Photo: BaseRequest, FileOutput {
    let folder: URL
    init(folder: URL) { self.folder = folder }
    override var url: EndpointURL { "/photo.jpg" }
    override var usesCDN: Bool { true }
    var download: DownloadPlan {
        .to(folder) {
            $0.existingFile = .rename
            $0.resumes = true
            $0.sha256 = nil
        }
    }
}

// Base classes of an app, generic or not.

class AppRequest<Output: Codable & Sendable>: JSONRequest<Output> {
    var session = ""
    override func configure(_ request: inout RequestDescription) {
        super.configure(&request)
        request.apiVersion = "v2"
        request.authorization = .bearer(session)
        request.responseProcessors.append(BusinessCheck().process)
    }
    override func willStart() { tag += 1 }
}

class PageRequest<Item: Codable & Sendable>: AppRequest<Page<Item>> {
    var page = 1
    override var arguments: Arguments? { ["page": page] }
}

final class Users: PageRequest<User> {
    override var url: EndpointURL { "/users" }
    override func configure(_ request: inout RequestDescription) {
        super.configure(&request)
        request.json.keys = .snakeCase
    }

}

final class Rules: JSONRequest<[User]?> {
    override var url: EndpointURL { "/rules" }
    override var method: HTTPMethod { .post }
    override func configure(_ request: inout RequestDescription) {
        super.configure(&request)
        request.encoding = .webForm
        request.compression = .gzip
        request.acceptance.statuses = [200, 204]
        request.acceptance.rules.append(
            ResponseRule { response in
                response.json["error"].int.map { .reject(BusinessError(number: $0)) } ?? .accept
            })
        request.json.removesNulls = true
        request.json.path = ["data", "users"]
    }
    override var errorDecoder: ErrorDecoder? { .json(User.self) }
}

final class Forget: BaseRequest, VoidOutput {
    override var url: EndpointURL { "/users/7" }
    override var method: HTTPMethod { .delete }
}

final class Words: BaseRequest, TypedRequest {
    override var url: EndpointURL { "/words" }
    override func configure(_ request: inout RequestDescription) {
        super.configure(&request)
        request.acceptance.format = .firstOf([.json, .text])
    }
    var decoder: ResponseDecoder<[String]> {
        .firstOf([.json(), ResponseDecoder.string.map { [$0] }])
    }
}

final class CreateUser: JSONRequest<User> {
    let user: User
    init(user: User) { self.user = user }
    override var url: EndpointURL { "/users" }
    override var method: HTTPMethod { .post }
    override var body: HTTPBody? { .json(user) }
    override func configure(_ request: inout RequestDescription) {
        super.configure(&request)
        request.json.dates = .millisecondsSince1970
    }
}

final class FilterUsers: BaseRequest {
    let user: User
    init(user: User) { self.user = user }
    override var url: EndpointURL { "/users" }
    override var arguments: Arguments? { Arguments(encoding: user) }
}
