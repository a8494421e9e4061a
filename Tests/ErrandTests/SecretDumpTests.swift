import Errand
import ErrandTesting
import Foundation
import Testing

/// Neither `print` nor `dump` of a value shows secrets.
@Suite(.timeLimit(.minutes(2))) struct SecretDumpTests {
    /// A part of every secret in these tests.
    private static let secret = "hush"

    private struct OwnAuthenticator: Authenticator {
        var token = "hush"
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

    private var url: URI {
        get throws { try URI(parsing: "https://user:hush@example.com/?key=hush#hush") }
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
            BasicAuthenticator(user: "user", password: "hush"), BearerAuthenticator("hush"),
            APIKeyAuthenticator("hush", in: .query("key")),
            DigestAuthenticator(user: "user", password: "hush"),
            PasswordAuthenticator(user: "user", password: "hush"),
        ]
        for authenticator in authenticators {
            expectNoSecret(authenticator)
            expectNoSecret(HostAuthenticator("example.com", authenticator))
        }
        expectNoSecret(HostAuthenticator("example.com", OwnAuthenticator()))
    }

    @Test func usedAuthenticator() async throws {
        let digest = DigestAuthenticator(user: "user", password: "hush")
        let request = TransportRequest(url: try URI(parsing: "https://example.com/"))
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
        configuration.authenticators = [HostAuthenticator("example.com", OwnAuthenticator())]
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
}
