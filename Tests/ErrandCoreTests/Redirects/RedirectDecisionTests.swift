import ErrandHTTP
import Foundation
import Testing

@testable import ErrandCore

@Suite struct RedirectDecisionTests {
    @Test(arguments: [
        (301, HTTPMethod.post, HTTPMethod.get), (302, .post, .get), (303, .post, .get),
        (303, .put, .get), (303, .delete, .get), (303, .head, .head), (301, .put, .put),
        (302, .delete, .delete), (307, .post, .post), (308, .post, .post), (301, .head, .head),
    ])
    func methodsAreRewrittenByStatus(status: Int, method: HTTPMethod, expected: HTTPMethod)
        throws
    {
        var request = try request("https://a.example/x")
        request.method = method
        request.body = .string("body")
        request.headers[.contentType] = "text/plain"
        let next = try #require(follow(status, "https://a.example/y", request))
        #expect(next.method == expected)
        let keepsBody = method == expected
        #expect((next.body != nil) == keepsBody)
        #expect((next.headers[.contentType] != nil) == keepsBody)
    }

    @Test(arguments: [
        "https://b.example/", "https://a.example:8443/", "https://sub.a.example/", "//b.example/x",
    ])
    func credentialsAreRemovedForAnotherOrigin(location: String) throws {
        let next = try #require(follow(302, location, try withCredentials()))
        for name in ["authorization", "cookie", "proxy-authorization", "x-api-key"] {
            #expect(!next.headers.contains { $0.name.canonicalName == name }, "\(name)")
        }
        #expect(next.headers[.accept] == "text/html")
    }

    @Test(arguments: ["/y", "y", "?q", "https://a.example/", "https://A.example:443/z"])
    func credentialsAreKeptForTheSameOrigin(location: String) throws {
        let next = try #require(follow(302, location, try withCredentials()))
        #expect(next.headers[.authorization] == "Bearer secret")
    }

    /// One origin in another spelling is the same origin; another address is another one.
    @Test func addressesAreComparedInCanonicalForm() throws {
        var request = try request("http://127.0.0.1/x")
        request.headers[.authorization] = "Bearer secret"
        for location in ["http://127.1/y", "http://0x7f.1:80/y", "http://2130706433/y"] {
            let next = try #require(follow(302, location, request))
            #expect(next.url.host == "127.0.0.1")
            #expect(next.headers[.authorization] == "Bearer secret")
        }
        let other = try #require(follow(302, "http://127.2/y", request))
        #expect(other.headers[.authorization] == nil)
        #expect(failure(302, "http://127.0.0.256/y", request) == .unsafeRedirect)
    }

    @Test func locationsAreResolved() throws {
        let request = try request("https://a.example/one/two?q#f")
        #expect(follow(302, "../three", request)?.url.string == "https://a.example/three")
        #expect(follow(302, "four", request)?.url.string == "https://a.example/one/four")
        #expect(follow(302, "?p=1", request)?.url.string == "https://a.example/one/two?p=1")
        #expect(
            follow(302, "https://user:pw@a.example/u#frag", request)?.url.string
                == "https://a.example/u")
    }

    @Test(
        arguments: [
            ("/y", nil, nil), ("/y", "old", "old"), ("/y#new", "old", "new"), ("#new", nil, "new"),
            ("/y#", "old", ""), (nil, "old", "old"),
        ] as [(String?, String?, String?)])
    func fragmentsAreInherited(location: String?, inherited: String?, expected: String?) {
        var headers = HTTPFields()
        headers[.location] = location
        let response = Response(status: .init(code: 302), headers: headers, url: HTTPURL())
        #expect(RedirectDecision.fragment(after: response, inheriting: inherited) == expected)
    }

    @Test(arguments: ["file:///etc/passwd", "ftp://a.example/", "javascript:alert(1)", "http://"])
    func onlyHTTPLocationsAreFollowed(location: String) throws {
        #expect(failure(302, location, try request("https://a.example/")) == .unsafeRedirect)
    }

    @Test func downgradeToHTTPMustBeAllowed() throws {
        let request = try withCredentials()
        #expect(failure(302, "http://a.example/", request) == .unsafeRedirect)
        let policy = RedirectPolicy(allowsDowngrade: true)
        let next = try #require(follow(302, "http://a.example/", request, policy: policy))
        #expect(next.headers[.authorization] == nil)
    }

    @Test func otherResponsesAreDelivered() throws {
        let request = try request("https://a.example/")
        for status in [300, 304, 305, 306] {
            #expect(isDelivered(status, "https://a.example/y", request))
        }
        #expect(isDelivered(302, nil, request))
        #expect(isDelivered(302, "/y", request, policy: .none))
    }

    @Test func redirectsAreLimited() throws {
        let request = try request("https://a.example/")
        let visited = Array(repeating: request.url, count: 21)
        #expect(failure(302, "/y", request, visited: visited) == .tooManyRedirects)
        #expect(follow(302, "/y", request, visited: Array(visited.dropLast())) != nil)
    }

    @Test func loopsAreDetectedBeforeTheLimit() throws {
        let a = try request("https://a.example/a")
        let b = try request("https://a.example/b")
        // A single return, as after a page that sets a cookie, is not a loop.
        #expect(follow(302, "/a", b, visited: [a.url, b.url]) != nil)
        #expect(follow(302, "/b", a, visited: [a.url, b.url, a.url]) != nil)
        let visited = [a.url, b.url, a.url, b.url]
        #expect(failure(302, "/a", b, visited: visited) == .tooManyRedirects)
        #expect(failure(302, "/a", a, visited: [a.url, a.url]) == .tooManyRedirects)
    }

    // MARK: -

    private func request(_ url: String) throws -> TransportRequest {
        TransportRequest(url: try HTTPURL(parsing: url))
    }

    private func withCredentials() throws -> TransportRequest {
        var request = try request("https://a.example/x")
        request.headers[.authorization] = "Bearer secret"
        request.headers[.cookie] = "id=secret"
        request.headers[.proxyAuthorization] = "Basic secret"
        request.headers[.accept] = "text/html"
        if let name = HTTPField.Name("X-Api-Key") { request.headers[name] = "secret" }
        return request
    }

    private func decide(
        _ status: Int, _ location: String?, _ request: TransportRequest, visited: [HTTPURL]? = nil,
        policy: RedirectPolicy = .follow
    ) -> RedirectDecision {
        var headers = HTTPFields()
        headers[.location] = location
        let response = Response(status: .init(code: status), headers: headers, url: request.url)
        return .decide(
            response: response, request: request, visited: visited ?? [request.url], policy: policy)
    }

    private func follow(
        _ status: Int, _ location: String, _ request: TransportRequest, visited: [HTTPURL]? = nil,
        policy: RedirectPolicy = .follow
    ) -> TransportRequest? {
        guard
            case .follow(let next) = decide(
                status, location, request, visited: visited, policy: policy)
        else { return nil }
        return next
    }

    private func failure(
        _ status: Int, _ location: String, _ request: TransportRequest, visited: [HTTPURL]? = nil
    ) -> RequestError.Code? {
        guard case .fail(let error) = decide(status, location, request, visited: visited) else {
            return nil
        }
        return error.code
    }

    private func isDelivered(
        _ status: Int, _ location: String?, _ request: TransportRequest,
        policy: RedirectPolicy = .follow
    ) -> Bool {
        guard case .deliver = decide(status, location, request, policy: policy) else {
            return false
        }
        return true
    }
}
