import Testing

@testable import ErrandCore

/// URLs from base URLs, paths, CDN hosts and API versions.
struct URLBuilderTests {
    private func url(
        _ url: EndpointURL, base: EndpointURL? = nil,
        _ change: (inout RequestDescription, inout Configuration) throws -> Void = { _, _ in }
    ) throws -> String {
        var configuration = Configuration(baseURL: base)
        var description = RequestDescription(endpoint: "GetUser", url: url)
        try change(&description, &configuration)
        return try URLBuilder.url(of: description, configuration, url: description.url).string
    }

    private func url(_ url: String, base: String) throws -> String {
        try self.url(EndpointURL(raw: url), base: EndpointURL(raw: base))
    }

    // One slash between base and path, whether or not both have one.
    @Test(arguments: [
        ("http://h/v1", "get", "http://h/v1/get"), ("http://h/v1/", "get", "http://h/v1/get"),
        ("http://h/v1/", "/get", "http://h/v1/get"), ("http://h/v1", "/get", "http://h/v1/get"),
        ("http://h", "get", "http://h/get"), ("http://h", "/get", "http://h/get"),
        ("http://h/v1", "/", "http://h/v1/"), ("http://h/v1/", "/", "http://h/v1/"),
        ("http://h/v1", "get/", "http://h/v1/get/"), ("http://h/v1", "/get/", "http://h/v1/get/"),
        ("http://h/v1", "/a//b", "http://h/v1/a//b"), ("http://h/v1//", "a", "http://h/v1//a"),
        ("http://h/v1", "a b/ü", "http://h/v1/a%20b/%C3%BC"),
        ("http://h/v1", "a%20b%", "http://h/v1/a%20b%25"),
        ("http://h/v1", " get ", "http://h/v1/get"),
        ("https://h:8443/v1", "get", "https://h:8443/v1/get"),
    ])
    func pathIsBelowTheBase(base: String, path: String, result: String) throws {
        #expect(try url(path, base: base) == result)
    }

    @Test(arguments: [
        ("http://h/v1", "../get", "http://h/get"), ("http://h/v1/", "/../get", "http://h/get"),
        ("http://h/v1", "./a", "http://h/v1/a"), ("http://h/v1", "../../../a", "http://h/a"),
        ("http://h/a/../v1", "get", "http://h/v1/get"), ("http://h/v1", ".", "http://h/v1/"),
    ])
    func dotSegmentsOfALiteralLeaveTheBase(base: String, path: String, result: String) throws {
        #expect(try url(path, base: base) == result)
    }

    @Test(arguments: [
        ("http://h/v1", "get?a=1#f", "http://h/v1/get?a=1#f"),
        ("http://h/v1?key=1", "get", "http://h/v1/get?key=1"),
        ("http://h/v1?key=1", "/get?a=2#f", "http://h/v1/get?key=1&a=2#f"),
        ("http://h/v1?key=1&", "get?a=2", "http://h/v1/get?key=1&a=2"),
        ("http://h/v1/?key=1", "get", "http://h/v1/get?key=1"),
        ("http://h/v1?", "get?a=2", "http://h/v1/get?a=2"),
        ("http://h/v1#f", "get", "http://h/v1/get"),
        ("http://h/v1?key=1#f", "#g", "http://h/v1?key=1#g"),
    ])
    func queryOfTheBaseIsBeforeThatOfThePath(base: String, path: String, result: String) throws {
        #expect(try url(path, base: base) == result)
    }

    // Only text with "://" after a scheme is absolute.
    @Test(arguments: [
        ("http://other/x", "http://other/x"), ("HTTPS://Other/x", "https://other/x"),
        (" https://other/x", "https://other/x"), ("http://other/a/../b", "http://other/b"),
        ("items/a:b", "http://h/v1/items/a:b"), ("a:b", "http://h/v1/a:b"),
        ("/a:b", "http://h/v1/a:b"), ("jobs:cancel?x=1", "http://h/v1/jobs:cancel?x=1"),
        ("localhost:8080/x", "http://h/v1/localhost:8080/x"), ("http:/x", "http://h/v1/http:/x"),
        ("https:\\\\other/x", "http://h/v1/https:%5C%5Cother/x"),
        ("\\\\other/x", "http://h/v1/%5C%5Cother/x"), ("1a://other", "http://h/v1/1a://other"),
        ("x?next=https://other", "http://h/v1/x?next=https://other"),
    ])
    func schemeMakesAURLAbsolute(text: String, result: String) throws {
        #expect(try url(text, base: "http://h/v1") == result)
    }

    @Test(arguments: [
        ("http://h", "", "http://h/"), ("http://h", "?a=1", "http://h/?a=1"),
        ("http://h/", "", "http://h/"), ("http://h/v1", "", "http://h/v1"),
        ("http://h/v1/", "", "http://h/v1/"), ("http://h/v1", " ", "http://h/v1"),
        ("http://h/v1", "?a=1", "http://h/v1?a=1"),
        ("http://h/v1/", "?a=1", "http://h/v1/?a=1"), ("http://h/v1", "?", "http://h/v1"),
        ("http://h/v1", "#f", "http://h/v1#f"), ("http://h/v1", "?a=1#f", "http://h/v1?a=1#f"),
        ("http://h/v1#f", "", "http://h/v1"), ("http://h/v1?key=1", "", "http://h/v1?key=1"),
        ("http://h/v1?key=1", "?a=1", "http://h/v1?key=1&a=1"),
        ("http://h/a/../v1", "", "http://h/v1"), ("http://h/v1.php", "?a", "http://h/v1.php?a"),
    ])
    func urlWithoutAPathIsTheBaseAsWritten(base: String, text: String, result: String) throws {
        let (base, text) = (EndpointURL(raw: base), EndpointURL(raw: text))
        #expect(try url(text, base: base) == result)
        let cdn = try url(text, base: "http://other") {
            $0.usesCDN = true
            $1.cdnURL = base
        }
        #expect(cdn == result)
        let own = try url(text, base: "http://other") {
            $0.baseURL = base
            _ = $1
        }
        #expect(own == result)
        let environment = try url(text, base: "http://other") {
            $1.environments = ["test": .init(baseURL: base)]
            $1.environment = "test"
            $1 = try $1.inEnvironment()
            _ = $0
        }
        #expect(environment == result)
    }

    @Test(arguments: [
        ("http://h/api", "", "http://h/api/v5"), ("http://h/api/", "", "http://h/api/v5"),
        ("http://h", "", "http://h/v5"), ("http://h/api", "?a=1", "http://h/api/v5?a=1"),
        ("http://h/api?key=1", "?a=1", "http://h/api/v5?key=1&a=1"),
        ("http://h/api", "get?a=1", "http://h/api/v5/get?a=1"),
        ("http://h/api", "/get", "http://h/api/v5/get"), ("http://h/api/", "/", "http://h/api/v5/"),
        ("http://h/api?key=1", "get", "http://h/api/v5/get?key=1"),
        ("http://h/api", "a:b", "http://h/api/v5/a:b"),
        ("http://h/api", "http://other/x", "http://other/x"),
    ])
    func versionIsASegmentAfterTheBase(base: String, text: String, result: String) throws {
        let made = try url(EndpointURL(raw: text), base: EndpointURL(raw: base)) { description, _ in
            description.apiVersion = "/v5/"
        }
        #expect(made == result)
    }

    @Test func versionOfTheConfigurationAppliesUnlessTheEndpointHasOne() throws {
        for (own, path) in [(nil, "/v2/x"), ("v3", "/v3/x"), ("", "/x")] as [(String?, String)] {
            let made = try url("x", base: "http://h") { description, configuration in
                configuration.apiVersion = "v2"
                description.apiVersion = own
            }
            #expect(made == "http://h" + path)
        }
    }

    @Test func precedenceOfBaseURLs() throws {
        func base(
            _ change: (inout RequestDescription, inout Configuration) -> Void
        ) throws -> String {
            try url("x", base: "http://config") { description, configuration in
                configuration.cdnURL = "http://config-cdn"
                change(&description, &configuration)
            }
        }
        #expect(try base { _, _ in } == "http://config/x")
        #expect(
            try base {
                $0.baseURL = "http://own"; _ = $1
            } == "http://own/x")
        #expect(
            try base {
                $0.baseURL = ""; _ = $1
            } == "http://config/x")
        #expect(
            try base {
                $0.usesCDN = true; _ = $1
            } == "http://config-cdn/x")
        #expect(
            try base {
                $0.usesCDN = true
                $0.baseURL = "http://own"
                $1.cdnURL = nil
            } == "http://own/x")
        #expect(
            try base {
                $0.usesCDN = true
                $0.cdnURL = "http://own-cdn"
                _ = $1
            } == "http://own-cdn/x")
        #expect(
            try base {
                $0.usesCDN = true
                $1.cdnURL = ""
            } == "http://config/x")
        #expect(
            try base {
                $0.cdnURL = "http://own-cdn"; _ = $1
            } == "http://config/x")
    }

    @Test(arguments: [
        ("", nil, RequestError.Code.invalidURL, "empty"), ("users", nil, .noBaseURL, "baseURL"),
        ("users", "", .noBaseURL, "baseURL"), ("users", "not a base", .invalidURL, "base URL"),
        ("users", "ftp://h/", .invalidURL, "base URL"),
        ("users", "http://", .invalidURL, "base URL"),
        ("users", "http://h\n", .invalidURL, "line feed"),
        ("ftp://h/x", "http://h", .invalidURL, "ftp"),
        ("users", "localhost:8080", .invalidURL, "base URL"),
        ("users", "//h", .invalidURL, "base URL"), ("http://", "http://h", .invalidURL, "host"),
        ("//other/x", "http://h", .invalidURL, "two slashes"),
        (" //other/x", "http://h", .invalidURL, "two slashes"),
        ("//other/x", nil, .invalidURL, "two slashes"),
        ("a\r\nb", "http://h", .invalidURL, "carriage return"),
    ])
    func buildFailuresNameEndpointAndCause(
        path: String, base: String?, code: RequestError.Code, word: String
    ) {
        let error = #expect(throws: RequestError.self) {
            try url(EndpointURL(raw: path), base: base.map { EndpointURL(raw: $0) })
        }
        #expect(error?.code == code)
        #expect(error?.stage == .build)
        #expect(error?.message.contains("GetUser") == true)
        #expect(error?.message.contains(word) == true)
    }

    @Test(arguments: [
        (
            "localhost:8077", nil, "\"localhost:8077\" (configuration.baseURL)",
            "Write http://localhost:8077"
        ),
        ("api.example.com", nil, "(configuration.baseURL)", "Write http://api.example.com or"),
        ("htp://h/", nil, "\"htp://h/\" (configuration.baseURL)", "https://example.com/api/"),
        ("http:/h", nil, "\"http:/h\"", "https://example.com/api/"),
        ("HTTPS:h", nil, "\"HTTPS:h\"", "https://example.com/api/"),
        ("https//h", nil, "\"https//h\"", "https://example.com/api/"),
        ("httpbin.org", nil, "\"httpbin.org\"", "Write http://httpbin.org or"),
        ("http://h", "own.example", "\"own.example\" (baseURL)", "https://own.example"),
    ])
    func baseURLThatIsNotAbsoluteIsShownWithItsPlace(
        base: String, own: String?, value: String, advice: String
    ) throws {
        let error = #expect(throws: RequestError.self) {
            try url("users", base: EndpointURL(raw: base)) {
                if let own { $0.baseURL = EndpointURL(raw: own) }
                _ = $1
            }
        }
        let message = try #require(error?.message)
        #expect(message.contains(value) && message.contains(advice), "\(message)")
    }

    @Test(arguments: ["user:secret@h/", "user:secret@h:80/x", "h/?key=secret", "h/#secret"])
    func messageHasNoSecretOfABaseURLWithoutScheme(base: String) throws {
        let error = #expect(throws: RequestError.self) {
            try url("users", base: EndpointURL(raw: base))
        }
        let message = try #require(error?.message)
        #expect(!message.contains("secret"), "\(message)")
    }
}
