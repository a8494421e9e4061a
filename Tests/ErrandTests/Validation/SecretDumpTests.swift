import Errand
import ErrandOutbox
import ErrandTesting
import ErrandTransport
import Foundation
import TestSupport
import Testing

/// Neither `print` nor `dump` of a value shows secrets.
@Suite(.limited) struct SecretDumpTests {
    /// A part of every secret in these tests.
    private static let secret = "hush"

    private final class OwnAuthenticator: Authenticator {
        let token = "hush"
        func apply(to request: inout TransportRequest) async throws {}
    }

    private struct Body: Sendable { var token = "hush" }

    private func expectNoSecret(
        _ value: Any, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        var dumped = ""
        dump(value, to: &dumped)
        for text in [dumped, "\(value)", String(reflecting: value)] {
            #expect(!text.isEmpty, sourceLocation: sourceLocation)
            #expect(!text.contains(Self.secret), "\(text)", sourceLocation: sourceLocation)
        }
    }

    private let headers: HTTPFields = [
        .authorization: "Bearer hush", .cookie: "session=hush", .setCookie: "session=hush",
        .wwwAuthenticate: "Digest nonce=hush", .accept: "text/plain",
    ]

    private var url: HTTPURL {
        get throws { try HTTPURL(parsing: "https://user:hush@example.com/?key=hush#hush") }
    }

    private var response: Response {
        get throws {
            Response(
                status: .ok, headers: headers, body: .data(Data("hush".utf8)), url: try url,
                trailers: headers)
        }
    }

    @Test func authenticators() {
        let authenticators: [any Authenticator] = [
            .basic(user: "user", password: "hush"), .bearer("hush"), .bearer(token: { "hush" }),
            .apiKey("hush", in: .query("key")),
            .digest(user: "user", password: "hush"),
            .password(user: "user", password: "hush"),
        ]
        for authenticator in authenticators {
            expectNoSecret(authenticator)
        }
    }

    @Test func usedAuthenticator() async throws {
        let digest = StandardAuthenticator.digest(user: "user", password: "hush")
        let request = TransportRequest(url: try HTTPURL(parsing: "https://example.com/"))
        let challenge = Response(
            status: .unauthorized,
            headers: [.wwwAuthenticate: #"Digest realm="r", nonce="hush-nonce", qop="auth""#],
            url: request.url)
        #expect(try await digest.refresh(after: challenge, to: request))
        expectNoSecret(digest)
    }

    @Test func credentialsOfRequests() throws {
        expectNoSecret(Authorization.bearer("hush"))
        expectNoSecret(Authorization.basic(user: "user", password: "hush"))
        expectNoSecret(ClientIdentity.pkcs12(Data("hush".utf8), password: "hush"))
        expectNoSecret(
            TransportOptions.ProxyPolicy.url("http://user:hush@proxy.example.com:8080"))
        var options = TransportOptions()
        options.proxy = .url("http://user:hush@proxy.example.com:8080")
        options.security = SecurityPolicy()
        options.security?.clientIdentity = .pem(
            certificate: "hush", key: "hush", password: "hush")
        expectNoSecret(options)
        let request = TransportRequest(
            url: try url, headers: headers, body: .string("hush"), options: options)
        expectNoSecret(request)
        expectNoSecret(CustomRequest(request))
    }

    @Test func configurationAndDescription() throws {
        var configuration = Configuration(baseURL: "https://user:hush@example.com/?key=hush")
        configuration.authenticators = ["example.com": OwnAuthenticator()]
        configuration.sharedHeaders = headers
        configuration.hostHeaders = ["example.com": headers]
        configuration.sharedArguments = ["key": "hush"]
        configuration.environments = ["live": .init(baseURL: "https://a.example", headers: headers)]
        expectNoSecret(configuration)
        expectNoSecret(configuration.environments)
        var description = RequestDescription(endpoint: "Test", url: "https://example.com/?key=hush")
        description.headers = headers
        description.authorization = .bearer("hush")
        description.arguments = ["key": "hush"]
        description.body = .string("hush")
        expectNoSecret(description)
    }

    @Test func agent() {
        var configuration = Configuration()
        configuration.sharedHeaders = headers
        expectNoSecret(RequestAgent(configuration: configuration, transport: ScriptedTransport()))
    }

    @Test func cookies() throws {
        let cookie = Cookie(name: "session", value: "hush", domain: "example.com")
        expectNoSecret(cookie)
        let jar = CookieJar()
        try jar.set(cookie)
        expectNoSecret(jar)
    }

    @Test func responsesAndErrors() throws {
        expectNoSecret(try response)
        var error = RequestError(
            .unacceptableStatus, stage: .validate, "Status 403.", response: try response,
            underlying: RequestError(
                .rejected, stage: .validate, "Rejected.", response: try response,
                underlying: URLError(
                    .badURL, userInfo: [NSURLErrorFailingURLErrorKey: "https://a/?key=hush"])))
        error.body = Body()
        error.previousErrors = [error]
        expectNoSecret(error)
        expectNoSecret(
            StoredResponse(
                status: 200, headers: headers, body: Data("hush".utf8),
                url: "https://example.com/?key=hush", storedAt: Date()))
    }

    @Test func urls() throws {
        let url = try url
        var text = ""
        dump(url, to: &text)
        #expect(text.contains("https://example.com/?…") && !text.contains("hush"))
        expectNoSecret([url])
        expectNoSecret(["next": url as HTTPURL?])
        let link = try #require(HTTPField.Name("Link"))
        let page = Response(
            status: .ok, headers: [link: "<https://user:hush@a.example/?key=hush>; rel=next"],
            url: url)
        #expect(page.links.count == 1)
        expectNoSecret(page.links)
        #expect(url.debugDescription == url.redacted)
        #expect("\(url)" == "https://user:hush@example.com/?key=hush#hush")
    }

    @Test func urlsInHeaders() throws {
        let targets = [
            "https://user:hush@app.example/cb?code=hush#hush": "https://app.example/cb?…",
            "//user:hush@app.example/cb#hush": "//app.example/cb", "/cb?code=hush": "/cb?…",
            "?code=hush": "?…", "https://[hush": "<redacted>", "app:cb?code=hush": "app:cb?…",
        ]
        for (target, shown) in targets {
            for name in ["Location", "Content-Location", "Referer"] {
                try expectHeader(name, target, shows: shown)
            }
            try expectHeader(
                "Link", "<\(target)>; rel=next; title=\"a, b\"; anchor=\"\(target)\"; x, </a>",
                shows: "<\(shown)>; rel=\"next\"; title=\"a, b\"; anchor=\"\(shown)\"; x, </a>")
        }
        try expectHeader("Link", "</a?hush>; rel=next, </a?hush", shows: "<redacted>")
        try expectHeader(
            "X-Next", "a=\"HTTP://b.example/?hush\", <https://u:hush@c.example/x#hush> d",
            shows: "a=\"http://b.example/?…\", <https://c.example/x> d")
        try expectHeader("ETag", "\"a?b#c\"", shows: "\"a?b#c\"")
    }

    /// Expects the redacted value of a header field in the dumps of all values that have headers.
    private func expectHeader(
        _ name: String, _ value: String, shows shown: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let headers: HTTPFields = [try #require(HTTPField.Name(name)): value]
        let url = try HTTPURL(parsing: "https://example.com/")
        let response = Response(status: .found, headers: headers, url: url)
        let values: [Any] = [
            response, RequestError(.rejected, stage: .validate, "x", response: response),
            ResponseHead(status: .found, headers: headers), TransferEnd(trailers: headers),
            TransportRequest(url: url, headers: headers),
        ]
        for value in values {
            expectNoSecret(value, sourceLocation: sourceLocation)
            var text = ""
            dump(value, to: &text)
            // A dump escapes quotes.
            let expected = "\(name): \(shown)".replacing("\"", with: "\\\"")
            #expect(text.contains(expected), "\(text)", sourceLocation: sourceLocation)
        }
    }

    @Test func linksWithAnAnchor() throws {
        let link = try #require(HTTPField.Name("Link"))
        let anchor = "https://user:hush@a.example/x?key=hush"
        let page = Response(
            status: .ok,
            headers: [link: "</next>; rel=next; anchor=\"\(anchor)\"; title=plain"], url: try url)
        let first = try #require(page.links.first)
        expectNoSecret(first)
        expectNoSecret(page.links)
        #expect("\(first)".contains("https://a.example/x?…") && "\(first)".contains("plain"))
        #expect(first.parameters["anchor"] == anchor)
    }

    @Test func pages() async throws {
        let next = Pagination.Next.url("https://user:hush@example.com/items?after=hush")
        expectNoSecret(next)
        #expect("\(next)" == "url(https://example.com/items?…)")
        expectNoSecret(Pagination.Next.arguments(["after": "hush"]))
        #expect("\(Pagination.Next.arguments(["after": "hush"]))" == "arguments(after)")
        let fixture = AgentFixture()
        let link = try #require(HTTPField.Name("Link"))
        fixture.transport.on(
            .get, "/items",
            ScriptedResponse(
                headers: [.contentType: "application/json", link: "<?after=hush>; rel=next"],
                body: Data("[]".utf8)))
        var iterator = InlineRequest("items").responsePages(.link, on: fixture.agent)
            .makeAsyncIterator()
        _ = try await iterator.next()
        expectNoSecret(iterator)
    }

    @Test func challenges() throws {
        let challenges = AuthenticationChallenge.parse([
            "Negotiate hush", #"Digest realm="r", nonce="hush", opaque="hush""#,
        ])
        #expect(challenges.map(\.scheme) == ["Negotiate", "Digest"])
        expectNoSecret(challenges)
        for challenge in challenges {
            expectNoSecret(challenge)
            for parameter in challenge.parameters where parameter.value == "hush" {
                expectNoSecret(parameter)
            }
        }
        #expect("\(challenges)" == "[Negotiate, Digest (realm, nonce, opaque)]")
    }

    @Test func arguments() {
        let nested: Arguments = ["password": "hush", "n": 1]
        let arguments: Arguments = [
            "user": "hush", "list": ["hush"], "mixed": ["hush", 1] as ArgumentList,
            "login": nested,
        ]
        expectNoSecret(arguments)
        expectNoSecret(nested.argumentNode)
        expectNoSecret(["hush", 1] as ArgumentList)
        var text = ""
        dump(arguments, to: &text)
        for name in arguments.names {
            #expect(text.contains(name) && "\(arguments)".contains(name))
        }
        #expect("\(["hush", 1] as ArgumentList)".contains("2 values"))
    }

    @Test func headsAndEnds() throws {
        let head = ResponseHead(status: .ok, headers: headers, remoteAddress: "192.0.2.1:443")
        expectNoSecret(head)
        var text = ""
        dump(head, to: &text)
        for part in ["200", "Accept: text/plain", "Set-Cookie: <redacted>", "192.0.2.1:443"] {
            #expect(text.contains(part), "\(part) in \(text)")
        }
        let end = TransferEnd(
            error: RequestError(.rejected, stage: .validate, "Rejected.", response: try response),
            trailers: headers)
        expectNoSecret(end)
        expectNoSecret(TransferEnd(trailers: headers))
    }

    @Test func bodies() {
        // A dump of `Data` shows the numbers of its bytes.
        let numbers = Data("hush".utf8).map { "\($0)" }
        let part = HTTPBody.Part(
            name: "field", body: .string("hush"), headers: [.authorization: "hush"])
        let bodies: [HTTPBody] = [
            .string("hush"), .json(["token": "hush"]), .multipart([part]),
        ]
        for value in bodies.map({ $0 as Any }) + [part, HTTPBody.multipart([part])] {
            expectNoSecret(value)
            var text = ""
            dump(value, to: &text)
            #expect(!numbers.allSatisfy { text.contains($0) }, "\(text)")
        }
        #expect("\(bodies[0])" == "HTTPBody: 4 bytes, text/plain; charset=utf-8")
        #expect("\(bodies[2])".hasPrefix("HTTPBody: 1 part, multipart/form-data"))
        #expect("\(part)".contains("field"))
    }

    @Test func storedAndPersistentRequests() async throws {
        let store = MemoryResponseStore()
        let key = CacheKey(canonical: "GET\nhttps://example.com/?key=hush")
        try await store.store(
            StoredResponse(
                status: 200, headers: headers, body: Data("hush".utf8),
                url: "https://example.com/?key=hush", storedAt: Date(), identity: "hush"), for: key)
        expectNoSecret(key)
        let info = try #require(try await store.entries().first)
        expectNoSecret(info)
        #expect("\(info)".contains("https://example.com/?…"))
        let outbox = Outbox(
            agent: RequestAgent(
                configuration: Configuration(), transport: ScriptedTransport(), store: nil),
            store: MemoryOutboxStore())
        try await outbox.add(
            InlineRequest("https://example.com/notes?key=hush") {
                $0.method = .post
                $0.headers = [.from: "hush"]
                $0.body = .string("hush")
            }.makeDescription())
        let entry = try #require(outbox.entries.first)
        expectNoSecret(entry)
        expectNoSecret(try #require(entry.headers.first { $0.name == "From" }))
        #expect("\(entry)".contains("From") && "\(entry)".contains("https://example.com/notes?…"))
    }

    @Test func dumpsShowWhatIsNotSecret() throws {
        var text = ""
        dump(
            RequestError(.rejected, stage: .validate, "Rejected.", response: try response),
            to: &text)
        for part in ["rejected", "Rejected.", "200", "Accept: text/plain", "4 bytes"] {
            #expect(text.contains(part), "\(part) in \(text)")
        }
        #expect("\(Cookie(name: "a", value: "b", domain: "c.example"))" == "Cookie a of c.example/")
    }

    /// The names of an agent are secret in its responses, and in errors with them.
    @Test(arguments: [200, 500]) func namesOfTheAgent(status: Int) async throws {
        let name = try #require(HTTPField.Name("X-Tenant"))
        let fixture = AgentFixture { $0.secretNames.added = ["X-Tenant"] }
        fixture.transport.respond { _ in
            ScriptedResponse(status: .init(code: status), headers: [name: "hush", .accept: "a"])
        }
        let endpoint = InlineRequest("a") { $0.acceptance.format = .any }
        do {
            let response = try await endpoint.send(on: fixture.agent)
            #expect(status == 200 && response.headers[name] == "hush")
            expectNoSecret(response)
        } catch {
            #expect(status == 500 && error.response?.headers[name] == "hush")
            expectNoSecret(error)
        }
    }
}
