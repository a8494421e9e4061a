import Testing

@testable import ErrandCore

/// URLs from base URLs, paths, CDN hosts and API versions.
struct URLBuilderTests {
    private func url(
        _ url: String, base: String? = nil, joining: URLJoining = .rfc3986,
        _ change: (inout RequestDescription, inout Configuration) throws -> Void = { _, _ in }
    ) throws -> String {
        var configuration = Configuration(baseURL: base)
        configuration.urlJoining = joining
        var description = RequestDescription(endpoint: "GetUser", url: url)
        try change(&description, &configuration)
        return try URLBuilder.url(
            of: description, configuration, relativeURL: description.url
        ).string
    }

    // RFC 3986 §5.2, with the path of the base taken as a directory.
    @Test(arguments: [
        ("http://h/v1", "get", "http://h/v1/get"), ("http://h/v1/", "get", "http://h/v1/get"),
        ("http://h/v1/", "/get", "http://h/get"), ("http://h", "get", "http://h/get"),
        ("http://h/v1", "http://other/x", "http://other/x"),
        ("http://h/v1", "get/", "http://h/v1/get/"), ("http://h/v1", "/get/", "http://h/get/"),
        ("http://h/v1", "get?a=1#f", "http://h/v1/get?a=1#f"),
        ("http://h/v1?key=1", "get", "http://h/v1/get"), ("http://h/v1", "../get", "http://h/get"),
        ("http://h/v1", "//other/x", "http://other/x"),
        ("http://h/v1", "a b/ü", "http://h/v1/a%20b/%C3%BC"),
        ("https://h:8443/v1", "get", "https://h:8443/v1/get"),
        ("http://h/v1", "items/a:b", "http://h/v1/items/a:b"),
        ("http://h/v1", "./a:b", "http://h/v1/a:b"),
        ("http://h/v1", "HTTPS://Other/x", "https://other/x"),
    ])
    func joiningByRFC3986(base: String, path: String, result: String) throws {
        #expect(try url(path, base: base) == result)
    }

    @Test(arguments: [
        ("http://h/v1", "get", "http://h/v1/get"), ("http://h/v1/", "get", "http://h/v1/get"),
        ("http://h/v1/", "/get", "http://h/v1/get"), ("http://h/v1", "/get", "http://h/v1/get"),
        ("http://h/v1", "//get", "http://h/v1/get"), ("http://h", "get", "http://h/get"),
        ("http://h/v1", "http://other/x", "http://other/x"), ("http://h/v1", "/", "http://h/v1/"),
        ("http://h/v1?key=1", "/get?a=2#f", "http://h/v1/get?key=1&a=2#f"),
        ("http://h/v1", "/a:b", "http://h/v1/a:b"), ("http://h/v1", "/a//b", "http://h/v1/a//b"),
    ])
    func joiningByAppending(base: String, path: String, result: String) throws {
        #expect(try url(path, base: base, joining: .append) == result)
    }

    // RFC 3986 §5.4.1: a reference without a path keeps the path of the base.
    @Test(
        arguments: [
            ("http://h", "", "http://h/"), ("http://h", "?a=1", "http://h/?a=1"),
            ("http://h/", "", "http://h/"), ("http://h/v1", "", "http://h/v1"),
            ("http://h/v1/", "", "http://h/v1/"), ("http://h/v1", " ", "http://h/v1"),
            ("http://h/v1", "?a=1", "http://h/v1?a=1"),
            ("http://h/v1/", "?a=1", "http://h/v1/?a=1"), ("http://h/v1", "?", "http://h/v1"),
            ("http://h/v1", "#f", "http://h/v1#f"), ("http://h/v1", "?a=1#f", "http://h/v1?a=1#f"),
            ("http://h/v1#f", "", "http://h/v1"), ("http://h/v1?key=1", "", "http://h/v1?key=1"),
            ("http://h/v1?key=1", "?a=1", "http://h/v1?key=1&a=1"),
            ("http://h/a/../v1", "", "http://h/v1"), ("http://h/v1.php", "?a", "http://h/v1.php?a"),
        ], [URLJoining.rfc3986, .append])
    func urlWithoutAPathIsTheBaseAsWritten(
        _ values: (base: String, url: String, result: String), joining: URLJoining
    ) throws {
        let (base, text, result) = values
        #expect(try url(text, base: base, joining: joining) == result)
        let cdn = try url(text, base: "http://other", joining: joining) {
            $0.usesCDN = true
            $1.cdnURL = base
        }
        #expect(cdn == result)
        let own = try url(text, base: "http://other", joining: joining) {
            $0.baseURL = base
            _ = $1
        }
        #expect(own == result)
        let environment = try url(text, base: "http://other", joining: joining) {
            $1.environments = ["test": .init(baseURL: base)]
            $1.environment = "test"
            $1 = try $1.inEnvironment()
            _ = $0
        }
        #expect(environment == result)
    }

    @Test(
        arguments: [
            ("http://h/api", "", "http://h/api/v5"), ("http://h/api/", "", "http://h/api/v5"),
            ("http://h", "", "http://h/v5"), ("http://h/api", "?a=1", "http://h/api/v5?a=1"),
            ("http://h/api?key=1", "?a=1", "http://h/api/v5?key=1&a=1"),
        ], [URLJoining.rfc3986, .append])
    func versionEndsAURLWithoutAPath(
        _ values: (base: String, url: String, result: String), joining: URLJoining
    ) throws {
        let (base, text, result) = values
        let path = try url(text, base: base, joining: joining) { description, _ in
            description.apiVersion = "/v5/"
        }
        #expect(path == result)
        let query = try url("", base: "http://h/graphql", joining: joining) {
            $0.apiVersion = "v5"
            $1.apiVersionPlacement = .query("v")
        }
        #expect(query == "http://h/graphql?v=v5")
    }

    @Test func versionOfTheConfigurationAppliesUnlessTheEndpointHasOne() throws {
        for (own, path) in [(nil, "/v2/x"), ("v3", "/v3/x"), ("", "/x")] as [(String?, String)] {
            let made = try url("x", base: "http://h") { description, configuration in
                configuration.apiVersion = "v2"
                description.apiVersion = own
            }
            #expect(made == "http://h" + path)
        }
        let query = try url("x", base: "http://h") { _, configuration in
            configuration.apiVersion = "v2"
            configuration.apiVersionPlacement = .query("version")
        }
        #expect(query == "http://h/x?version=v2")
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

    @Test func apiVersionGoesIntoPathQueryOrHeader() throws {
        func versioned(
            _ path: String, _ joining: URLJoining = .rfc3986,
            _ placement: APIVersionPlacement = .path
        ) throws -> String {
            try url(path, base: "http://h/api", joining: joining) {
                $0.apiVersion = "/v5/"
                $1.apiVersionPlacement = placement
            }
        }
        #expect(try versioned("get?a=1") == "http://h/api/v5/get?a=1")
        #expect(try versioned("/get") == "http://h/v5/get")
        #expect(try versioned("/get", .append) == "http://h/api/v5/get")
        #expect(try versioned("http://other/x") == "http://other/x")
        #expect(try versioned("get?a=1", .rfc3986, .query("v")) == "http://h/api/get?a=1&v=v5")
        #expect(try versioned("get", .rfc3986, .header("X-Version")) == "http://h/api/get")
        #expect(
            try url("get", base: "http://h/api") { description, _ in description.apiVersion = "" }
                == "http://h/api/get")
    }

    @Test(arguments: [
        ("", nil, RequestError.Code.invalidURL, "empty"), ("users", nil, .noBaseURL, "baseURL"),
        ("users", "", .noBaseURL, "baseURL"), ("users", "not a base", .invalidURL, "base URL"),
        ("users", "ftp://h/", .invalidURL, "base URL"),
        ("users", "http://", .invalidURL, "base URL"),
        ("users", "http://h\n", .invalidURL, "line feed"),
        ("ftp://h/x", "http://h", .invalidURL, "ftp"),
        ("localhost:8080/x", "http://h", .invalidURL, "localhost"),
        ("http:/x", "http://h", .invalidURL, "host"), ("http://", "http://h", .invalidURL, "host"),
        ("a\r\nb", "http://h", .invalidURL, "carriage return"),
    ])
    func buildFailuresNameEndpointAndCause(
        path: String, base: String?, code: RequestError.Code, word: String
    ) {
        let error = #expect(throws: RequestError.self) { try url(path, base: base) }
        #expect(error?.code == code)
        #expect(error?.stage == .build)
        #expect(error?.message.contains("GetUser") == true)
        #expect(error?.message.contains(word) == true)
    }
}
