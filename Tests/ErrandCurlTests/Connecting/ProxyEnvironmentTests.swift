import ErrandTransport
import Testing

@testable import ErrandCurl

/// Proxies of the environment and of the options are chosen by the variables of libcurl, and by one kind of list.
struct ProxyEnvironmentTests {
    private func proxy(
        _ variables: [String: String], _ url: String,
        change: (inout TransportOptions) -> Void = { _ in }
    ) throws -> TransportOptions.ProxyPolicy {
        var options = TransportOptions()
        change(&options)
        let environment = ProxyEnvironment { variables[$0] }
        return options.resolvingProxy(for: try HTTPURL(parsing: url), environment).proxy
    }

    @Test(
        arguments: [
            (["http_proxy": "p:1"], "http://a/", "p:1"),
            (["https_proxy": "p:1"], "http://a/", nil),
            (["https_proxy": "p:1"], "https://a/", "p:1"),
            (["HTTPS_PROXY": "p:1"], "https://a/", "p:1"),
            (["HTTPS_PROXY": "p:1", "https_proxy": "q:1"], "https://a/", "q:1"),
            // CGI servers set it from a request header.
            (["HTTP_PROXY": "p:1", "https_proxy": "q:1"], "http://a/", nil),
            (["all_proxy": "p:1"], "http://a/", "p:1"),
            (["ALL_PROXY": "p:1"], "https://a/", "p:1"),
            (["ALL_PROXY": "p:1", "all_proxy": "q:1"], "https://a/", "q:1"),
            (["all_proxy": "p:1", "http_proxy": "q:1"], "http://a/", "q:1"),
            // Empty variables count as missing.
            (["all_proxy": "p:1", "http_proxy": ""], "http://a/", "p:1"),
        ] as [([String: String], String, String?)])
    func variablesAreReadInOrder(variables: [String: String], url: String, expected: String?) throws
    {
        let found = try proxy(variables, url)
        #expect(found == (expected.map { .url($0) } ?? TransportOptions.ProxyPolicy.none))
    }

    @Test func nothingChangesWithoutVariables() throws {
        #expect(try proxy([:], "http://a/") == .environment)
        #expect(try proxy([:], "http://a/") { $0.maximumBodyBytes = 1 } == .environment)
        #expect(try proxy(["NO_PROXY": "*"], "http://a/") == .environment)
        #expect(!ProxyEnvironment { _ in nil }.namesProxy)
    }

    @Test func optionsPrecedeTheEnvironment() throws {
        let variables = ["all_proxy": "p:1", "no_proxy": "*"]
        #expect(
            try proxy(variables, "http://a/") { $0.proxy = .none }
                == TransportOptions.ProxyPolicy.none)
        #expect(
            try proxy(variables, "http://a/") { $0.proxy = .url("http://q") } == .url("http://q"))
        #expect(
            try proxy(variables, "http://a/") { $0.unixSocketPath = "/s" }
                == TransportOptions.ProxyPolicy.none)
    }

    @Test(
        arguments: [
            ("example.com", "http://example.com/", true),
            ("example.com", "http://a.example.com/", true),
            (".example.com", "http://example.com/", true),
            (".example.com", "http://a.example.com/", true),
            ("*.example.com", "http://a.b.example.com/", true),
            ("example.com", "http://notexample.com/", false),
            ("example.com", "http://example.com.org/", false),
            ("EXAMPLE.com", "http://Example.COM/", true),
            ("example.com.", "http://example.com/", true),
            ("example.com", "http://example.com./", true),
            ("bücher.example", "http://xn--bcher-kva.example/", true), ("*", "http://any/", true),
            ("a b,example.com", "http://example.com/", true), ("a,b c", "http://c/", true),
            ("example.com:81", "http://example.com/", false),
            ("example.com:80", "http://example.com/", true),
            ("*:443", "https://any/", true), ("*:443", "http://any/", false),
            ("10.0.0.1", "http://10.0.0.1/", true), ("10.0.0.1", "http://10.0.0.2/", false),
            ("0.1", "http://10.0.0.1/", false), ("10.0.0.0/8", "http://10.200.3.4/", true),
            ("10.0.0.0/8", "http://11.0.0.1/", false),
            ("192.168.1.0/23", "http://192.168.0.9/", true),
            ("192.168.2.0/23", "http://192.168.1.9/", false),
            ("10.0.0.1/32", "http://10.0.0.1/", true),
            ("0.0.0.0/0", "http://1.2.3.4/", true), ("0.0.0.0/0", "http://name/", false),
            ("::1", "http://[::1]/", true), ("[::1]", "http://[0:0::1]/", true),
            ("::2", "http://[::1]/", false),
            ("fd00::/8", "http://[fd12::7]/", true), ("[fd00::]/8", "http://[fe00::7]/", false),
            ("10.0.0.0/8", "http://[::1]/", false), ("[::1]:8080", "http://[::1]/", false),
            ("", "http://a/", false),
        ] as [(String, String, Bool)])
    func entriesMatchHosts(entries: String, url: String, isBypassed: Bool) throws {
        let expected: TransportOptions.ProxyPolicy = isBypassed ? .none : .url("p:1")
        #expect(try proxy(["all_proxy": "p:1", "no_proxy": entries], url) == expected)
        #expect(try proxy(["all_proxy": "p:1", "NO_PROXY": entries], url) == expected)
        let list = ProxyEnvironment.entries(entries)
        #expect(
            try proxy([:], url) { $0.proxy = .url("p:1", bypass: list) } == expected)
    }

    @Test func lowerCaseListPrecedes() throws {
        let variables = ["all_proxy": "p:1", "no_proxy": "a", "NO_PROXY": "b"]
        #expect(try proxy(variables, "http://a/") == TransportOptions.ProxyPolicy.none)
        #expect(try proxy(variables, "http://b/") == .url("p:1"))
    }
}
