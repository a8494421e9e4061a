import ErrandHTTP
import TestSupport
import Testing

@testable import ErrandCore

/// The final URL of a request has the values of the endpoint's URL, below the base and nowhere else.
@Suite struct EndpointURLBuildTests {
    private static let dots = ".."

    private func url(
        _ url: EndpointURL, base: EndpointURL? = "https://h.example/v3",
        _ change: (inout RequestDescription, inout Configuration) -> Void = { _, _ in }
    ) throws(RequestError) -> HTTPURL {
        var configuration = Configuration(baseURL: base)
        var description = RequestDescription(endpoint: "GetUser", url: url)
        change(&description, &configuration)
        return try URLBuilder.url(of: description, configuration, url: description.url)
    }

    private static let refused: [(url: EndpointURL, base: EndpointURL, word: String)] = [
        ("users/\(dots)", "https://h.example", "url has \".\" or \"..\""),
        ("users/\("")/x", "https://h.example", "url has an empty value"),
        ("\("https")://secret.example", "https://h.example", "url has a value before"),
        ("https://h.example\("secret")", "https://h.example", "url has a value in its host"),
        ("users", "https://h.example/\(dots)", "base URL has \".\" or"),
        ("users", "\("")", "base URL has an empty value"),
        ("users", "https://h.example\("secret")", "base URL has a value in its host"),
    ]

    @Test(arguments: refused)
    func refusalNamesTheEndpointAndNotTheValue(
        values: (url: EndpointURL, base: EndpointURL, word: String)
    ) throws {
        let error = #expect(throws: RequestError.self) { try url(values.url, base: values.base) }
        #expect(error?.code == .invalidURL && error?.stage == .build)
        #expect(error?.message.contains("GetUser's \(values.word)") == true)
        #expect(error?.message.contains("secret") == false)
    }

    @Test func refusedCDNURLIsNotReplacedByTheBase() {
        let error = #expect(throws: RequestError.self) {
            try url("x") { description, _ in
                description.usesCDN = true
                description.cdnURL = "\("")"
            }
        }
        #expect(error?.code == .invalidURL)
    }

    @Test func baseIsNotReadForAnAbsoluteURL() throws {
        #expect(try url("https://o.example/x", base: "\("")").host == "o.example")
        #expect(try url(EndpointURL(raw: "https://o.example/x"), base: nil).host == "o.example")
    }

    @Test func customRequestWithARefusedURLFails() {
        let error = #expect(throws: RequestError.self) {
            var description = RequestDescription(endpoint: "Custom", url: "")
            description.customRequest = CustomRequest(
                url: "https://h.example/\(Self.dots)", method: .get, headers: [], body: nil)
            _ = try RequestBuilder().build(
                description, configuration: SharedConfiguration(Configuration()),
                sharedHeaders: [:], sharedArguments: [:], url: "")
        }
        #expect(error?.code == .invalidURL)
        var named = RequestError(.invalidURL, stage: .build, "x")
        let refused = RequestDescription(endpoint: "A", url: "https://h.example\("secret")")
        named.name(refused, Configuration())
        #expect(named.endpoint == "A" && named.url == nil)
        #expect(!refused.description.contains("secret"))
    }

    private static let seed = UInt64.random(in: 0...UInt64.max)

    /// Random bases, URLs and values: the parsed request URL has the segments and the query items that were given.
    @Test func randomURLsHaveTheirValuesBelowTheirBase() throws {
        var random = SeededGenerator(seed: Self.seed)
        func text(_ length: Int) -> String {
            let alphabet = Array("ab./?#%:@&=+;\\ \u{0}\né日-_~|^`{}25eF")
            return String(
                (0..<Int.random(in: 0...length, using: &random)).map { _ in
                    alphabet.randomElement(using: &random) ?? "x"
                })
        }
        func decoded(_ text: Substring) -> String {
            String(decoding: PercentEncoding.decode(text.utf8), as: UTF8.self)
        }
        let bases: [(url: EndpointURL, path: [String], query: [String])] = [
            ("https://h.example", [], []), ("https://h.example/", [], []),
            ("https://h.example/v1", ["v1"], []), ("https://h.example/v1/b/", ["v1", "b"], []),
            ("https://h.example/v1?key=1", ["v1"], ["key=1"]),
            ("https://h.example/v1/?key=1#f", ["v1"], ["key=1"]),
        ]
        for _ in 0..<3_000 {
            let base = bases.randomElement(using: &random) ?? bases[0]
            let (one, two, three) = (text(5), text(5), text(5))
            let slash = Bool.random(using: &random) ? "/" : ""
            let version = Bool.random(using: &random) ? "v9" : nil
            let endpoint: EndpointURL =
                "\(raw: slash)a:\(one)/\(two)?q=\(three)&r=\(one)#\(two)"
            let isRefused = ["", ".", ".."].contains(two)
            do throws(RequestError) {
                let made = try url(endpoint, base: base.url) { description, _ in
                    description.apiVersion = version
                }
                #expect(!isRefused, "seed \(Self.seed): \(endpoint)")
                let parsed = try HTTPURL(parsing: made.string)
                let segments = parsed.path.split(separator: "/", omittingEmptySubsequences: false)
                #expect(
                    segments.map(decoded)
                        == [""] + base.path + (version.map { [$0] } ?? []) + ["a:" + one, two],
                    "seed \(Self.seed): \(made)")
                let items = (parsed.query ?? "").split(separator: "&").map(decoded)
                #expect(
                    items == base.query + ["q=" + three, "r=" + one], "seed \(Self.seed): \(made)")
                #expect(
                    parsed.origin == "https://h.example:443" && parsed.userInfo == nil,
                    "seed \(Self.seed): \(made)")
            } catch {
                #expect(isRefused && error.code == .invalidURL, "seed \(Self.seed): \(endpoint)")
            }
        }
    }
}
