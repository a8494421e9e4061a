import ErrandCore
import ErrandTesting
import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import ErrandCurl

/// Proxies, address overrides, versions, and options that are rejected before anything is sent.
@Suite(.limited)
struct OptionsTests {
    private func text(_ record: RecordingReceiver.Record) -> String {
        String(decoding: record.body, as: UTF8.self)
    }

    @Test func proxyReceivesAbsoluteURLAndCredentials() async throws {
        let proxy = try PlainRequestTests.echo()
        let transport = CurlTransport()
        let record = try await transport.run(.get, "http://example.test/a?b") {
            $0.options.proxy = .url("http://user:secret@127.0.0.1:\(proxy.port)")
        }
        #expect(record.error == nil)
        #expect(text(record).hasPrefix("GET http://example.test/a?b HTTP/1.1\r\n"))
        #expect(text(record).contains("Proxy-Authorization: Basic dXNlcjpzZWNyZXQ="))
        let server = try PlainRequestTests.echo()
        let bypassed = try await transport.run(.get, server.url("/x")) {
            $0.options.proxy = .url(
                "http://127.0.0.1:\(proxy.port)", bypass: ["127.0.0.1"])
        }
        #expect(text(bypassed).hasPrefix("GET /x HTTP/1.1\r\n"))
        let direct = try await transport.run(.get, server.url("/y"))
        #expect(text(direct).hasPrefix("GET /y HTTP/1.1\r\n"))
        #expect(!text(direct).contains("Proxy-Authorization"))
    }

    @Test(arguments: [407, 502])
    func rejectedTunnelIsProxyFailed(status: Int) async throws {
        let proxy = try FailureTests.responding(
            "HTTP/1.1 \(status) No\r\nContent-Length: 0\r\n\r\n")
        let record = try await CurlTransport().run(.get, "https://example.test/") {
            $0.options.proxy = .url("http://user:secret@127.0.0.1:\(proxy.port)")
        }
        let error = try #require(record.error)
        #expect(error.code == .proxyFailed)
        #expect(error.message.contains("\(status)"))
        #expect(!"\(error) \(String(reflecting: error))".contains("secret"))
        #expect(record.head == nil)
    }

    @Test func socksProxyResolvesHostName() async throws {
        let proxy = try RawServer { connection in
            let greeting = connection.readBody(2)
            _ = connection.readBody(Int(greeting.last ?? 0))
            connection.write([5, 0])
            let request = connection.readBody(5)
            guard request.count == 5, request[3] == 3 else { return }
            let name = connection.readBody(Int(request[4]) + 2)
            connection.write([5, 0, 0, 1, 127, 0, 0, 1, 0, 80])
            guard connection.readHead() != nil else { return }
            let host = String(decoding: name.dropLast(2), as: UTF8.self)
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(host.utf8.count)\r\n\r\n\(host)")
        }
        let record = try await CurlTransport().run(.get, "http://example.test/") {
            $0.options.proxy = .url("socks5h://127.0.0.1:\(proxy.port)")
        }
        #expect(record.error == nil)
        #expect(text(record) == "example.test")
    }

    @Test func addressOverrideAppliesOnlyToItsRequest() async throws {
        let server = try PlainRequestTests.echo()
        let transport = CurlTransport()
        let url = "http://api.example.invalid:\(server.port)/o"
        for addresses in [["127.0.0.1"], ["127.0.0.1", "127.0.0.2"], ["::1", "127.0.0.1"]] {
            let record = try await transport.run(.get, url) {
                $0.options.addressOverrides = [
                    "api.example.invalid:\(server.port)": addresses, "other:1": ["10.0.0.1"],
                ]
            }
            #expect(record.error == nil)
            #expect(text(record).contains("Host: api.example.invalid:\(server.port)\r\n"))
        }
        let without = try await transport.run(.get, url)
        #expect(without.error?.code == .cannotFindHost, "\(String(describing: without.error))")
    }

    @Test func addressOverrideMatchesAnyPortAndCase() async throws {
        let server = try PlainRequestTests.echo()
        let url = "http://api.example.invalid:\(server.port)/o"
        for name in [
            "api.example.invalid", "API.Example.invalid", "API.example.INVALID:\(server.port)",
        ] {
            let record = try await CurlTransport().run(.get, url) {
                $0.options.addressOverrides = [name: ["127.0.0.1"]]
            }
            #expect(record.error == nil, "\(name)")
        }
    }

    @Test(arguments: [
        ("10.1", "10.0.0.1"), ("0xa.0.0.1", "10.0.0.1"),
        ("bücher.invalid", "xn--bcher-kva.invalid"),
    ])
    func addressOverrideMatchesInAnySpelling(name: String, host: String) async throws {
        let server = try PlainRequestTests.echo()
        let record = try await CurlTransport().run(.get, "http://\(host):\(server.port)/o") {
            $0.options.addressOverrides = ["\(name):\(server.port)": ["127.0.0.1"]]
            $0.timeouts.connect = .seconds(20)
        }
        #expect(record.error == nil, "\(String(describing: record.error))")
    }

    @Test(arguments: ["127.1", "0x7f000001", "127.0.0.1."])
    func bypassMatchesAddressesInAnySpelling(bypass: String) async throws {
        let proxy = try PlainRequestTests.echo()
        let server = try PlainRequestTests.echo()
        let record = try await CurlTransport().run(.get, server.url("/x")) {
            $0.options.proxy = .url("http://127.0.0.1:\(proxy.port)", bypass: [bypass])
        }
        #expect(text(record).hasPrefix("GET /x HTTP/1.1\r\n"))
    }

    /// A port in the list applies to this port only, also if the next request has the same options.
    @Test func bypassAppliesToItsPort() async throws {
        let proxy = try PlainRequestTests.echo()
        let server = try PlainRequestTests.echo()
        let other = try PlainRequestTests.echo()
        let transport = CurlTransport()
        for _ in 0..<2 {
            for (target, isBypassed) in [(server, true), (other, false)] {
                let record = try await transport.run(.get, target.url("/x")) {
                    $0.options.proxy = .url(
                        "http://127.0.0.1:\(proxy.port)", bypass: ["127.0.0.1:\(server.port)"])
                }
                #expect(text(record).hasPrefix("GET /x HTTP/1.1\r\n") == isBypassed)
            }
        }
    }

    /// libcurl compares IPv6 addresses without brackets, and names in ASCII.
    @Test func bypassIsGivenToLibcurlInItsForm() {
        // libcurl knows the asterisk only as the whole list.
        #expect(AddressOverride.bypass(["*:8443", "localhost"], port: 8443) == "*")
        #expect(AddressOverride.bypass(["*:8443", "localhost"], port: 443) == "localhost")
        #expect(AddressOverride.bypass(["a", "*"], port: 443) == "*")
        #expect(
            AddressOverride.bypass(
                [
                    "[0:0::1]", "::1", "10.0.0.0/8", "[fd00::]/8", "*.Bücher.example", ".a.example",
                    "b.example.", "c.example:443", "[::2]:443", "10.0.0.1:443", "d.example:80",
                    "*:1",
                ], port: 443)
                == "::1,::1,10.0.0.0/8,fd00::/8,.xn--bcher-kva.example,.a.example,b.example,c.example,::2,10.0.0.1"
        )
        #expect(AddressOverride.bypass(["*"], port: 80) == "*")
        #expect(AddressOverride.bypass(["*:80"], port: 80) == "*")
        #expect(
            ProxyEnvironment.entries(" a.example,*.b.example:80  [::1],,10.0.0.0/8\t")
                == ["a.example", "*.b.example:80", "[::1]", "10.0.0.0/8"])
    }

    /// The joined addresses are longer than a host name may be.
    @Test func addressOverrideAcceptsManyAddresses() async throws {
        let server = try PlainRequestTests.echo()
        let url = "http://api.example.invalid:\(server.port)/o"
        let addresses =
            ["127.0.0.1"] + (1...9).map { "2001:0db8:1111:2222:3333:4444:5555:000\($0)" }
        let record = try await CurlTransport().run(.get, url) {
            $0.options.addressOverrides = ["api.example.invalid": addresses]
        }
        #expect(record.error == nil, "\(String(describing: record.error))")
    }

    @Test(arguments: [["127.0.0.1"], ["127.0.0.1", "127.0.0.2"]])
    func proxyReceivesOverriddenAddress(addresses: [String]) async throws {
        let asked = Mutex("")
        let proxy = try RawServer { connection in
            let head = connection.readHead()
            asked.withLock { $0 = head ?? "" }
            connection.write("HTTP/1.1 502 No\r\nContent-Length: 0\r\n\r\n")
        }
        let record = try await CurlTransport().run(.get, "https://api.example.invalid:444/") {
            $0.options.proxy = .url("http://127.0.0.1:\(proxy.port)")
            $0.options.addressOverrides = ["api.example.invalid:444": addresses]
        }
        #expect(record.error?.code == .proxyFailed)
        #expect(asked.withLock { $0 }.hasPrefix("CONNECT 127.0.0.1:444 "))
    }

    /// A proxy that ends the connection before its response to CONNECT is not the server.
    @Test(arguments: ["", "HTTP/1.1 2"], [true, false])
    func proxyThatDoesNotRespondToConnectIsNamed(start: String, resets: Bool) async throws {
        let proxy = try RawServer { connection in
            _ = connection.readHead()
            if !start.isEmpty { connection.write(start) }
            if resets { connection.reset() } else { connection.close() }
        }
        let record = try await CurlTransport().run(.get, "https://api.example.invalid/") {
            $0.options.proxy = .url("http://127.0.0.1:\(proxy.port)")
        }
        let error = try #require(record.error)
        #expect(error.code == .proxyFailed, "\(error)")
        #expect(error.message.contains("127.0.0.1:\(proxy.port)"), "\(error)")
        #expect(error.message.contains("api.example.invalid"), "\(error)")
    }

    /// A proxy cannot resolve the alias.
    @Test func proxyUsesFirstAddress() throws {
        let url = try HTTPURL(parsing: "https://api.example.com/")
        var options = TransportOptions()
        options.addressOverrides = ["api.example.com": ["127.0.0.1", "::1"]]
        func usesAlias(_ proxy: TransportOptions.ProxyPolicy) -> Bool {
            options.proxy = proxy
            return AddressOverride.route(to: url, options)?.resolve != nil
        }
        #expect(!usesAlias(.url("http://p.test")))
        #expect(usesAlias(.environment) && usesAlias(.none))
    }

    @Test(arguments: ["localhost.example", ".localhost.example", "*.localhost.example"])
    func bypassAcceptsAllDomainForms(bypass: String) async throws {
        let proxy = try PlainRequestTests.echo()
        let server = try PlainRequestTests.echo()
        let record = try await CurlTransport().run(
            .get, "http://a.localhost.example:\(server.port)/x"
        ) {
            $0.options.addressOverrides = ["a.localhost.example": ["127.0.0.1"]]
            $0.options.proxy = .url("http://127.0.0.1:\(proxy.port)", bypass: [bypass])
        }
        #expect(record.error == nil)
        #expect(text(record).hasPrefix("GET /x HTTP/1.1\r\n"))
    }

    @Test func unreachableUnixSocketIsNamedInError() async throws {
        let record = try await CurlTransport().run(.get, "http://service.example/x") {
            $0.options.unixSocketPath = "/nowhere/service.sock"
        }
        #expect(record.error?.code == .cannotConnect)
        #expect(record.error?.message.contains("/nowhere/service.sock") == true)
        #expect(record.error?.message.contains("service.example") == false)
    }

    @Test func addressFamily() async throws {
        let server = try PlainRequestTests.echo()
        let url = "http://localhost:\(server.port)/"
        let transport = CurlTransport()
        let four = try await transport.run(.get, url) { $0.options.addressFamily = .ipv4 }
        #expect(four.error == nil)
        let six = try await CurlTransport().run(.get, url) {
            $0.options.addressFamily = .ipv6
        }
        #expect(six.error != nil)
    }

    @Test func priorKnowledgeToHTTP1ServerFails() async throws {
        let server = try PlainRequestTests.echo()
        let record = try await CurlTransport().run(.get, server.url()) {
            $0.options.httpVersion = .http2PriorKnowledge
            $0.timeouts.idle = .seconds(2)
        }
        #expect(record.error != nil)
    }

    @Test func invalidOptionsFailCheck() throws {
        let transport = CurlTransport()
        func code(_ change: (inout TransportRequest) -> Void) throws -> RequestError.Code? {
            var request = TransportRequest(url: try .test("https://example.test/"))
            change(&request)
            do throws(RequestError) {
                try transport.check(request)
                return nil
            } catch {
                return error.code
            }
        }
        #expect(try code { _ in } == nil)
        #expect(try code { $0.url = HTTPURL(path: "/x") } == .invalidURL)
        #expect(
            try code {
                $0.method = .head
                $0.body = .string("x")
            } == .invalidCombination)
        #expect(try code { $0.options.httpVersion = .http2 } == nil)
        #expect(
            try code {
                $0.url.scheme = "http"
                $0.options.httpVersion = .http2
            } == .invalidCombination)
        for proxy in ["", "127.0.0.1", "ftp://host:1", "http://"] {
            #expect(try code { $0.options.proxy = .url(proxy) } == .invalidConfiguration)
        }
        #expect(try code { $0.options.proxy = .url("socks5://127.0.0.1:1") } == nil)
        for host in [
            "example.com", ".example.com", "*.example.com", "10.0.0.0/8", "*", "::1", "[::1]",
            "fd00::/8", "my_host-1", "example.com.", "example.com:80",
        ] {
            #expect(
                try code { $0.options.proxy = .url("http://a:1", bypass: [host]) } == nil, "\(host)"
            )
        }
        for host in [
            "", ".", "*.", "a,b", "a b", "example.com:0", "http://a", "10.0.0.0/33", "a/8",
            "10.0.0.0/x",
            "fd00::/129", "a..b", "*a",
        ] {
            #expect(
                try code { $0.options.proxy = .url("http://a:1", bypass: [host]) }
                    == .invalidConfiguration, "\(host)")
        }
        let long = String(repeating: "x", count: 200)
        #expect(try code { $0.options.unixSocketPath = long } == .invalidConfiguration)
        #expect(
            try code { $0.options.addressOverrides = ["a:1": ["b"]] } == .invalidConfiguration)
        #expect(try code { $0.options.addressOverrides = ["a:1": ["::1"]] } == nil)
        #expect(try code { $0.options.addressOverrides = ["a": ["::1"]] } == nil)
        #expect(try code { $0.options.addressOverrides = ["[::1]:1": ["::1"]] } == nil)
        for name in ["", ":80", "a:99999", "a:0", "a:b", "http://a", "a/b", "u@a", "a:80\r\n"] {
            #expect(
                try code { $0.options.addressOverrides = [name: ["::1"]] } == .invalidConfiguration,
                "\(name)")
        }
        #expect(try code { $0.options.addressOverrides = ["a:1": []] } == .invalidConfiguration)
        func security(_ change: (inout SecurityPolicy) -> Void) throws -> RequestError.Code? {
            try code { request in
                var policy = SecurityPolicy()
                change(&policy)
                request.options.security = policy
            }
        }
        #expect(try security { $0.publicKeyPins = ["nonsense"] } == .invalidConfiguration)
        let pin = Data(repeating: 1, count: 32).base64EncodedString()
        #expect(try security { $0.publicKeyPins = [pin, pin] } == nil)
        #expect(try security { $0.authorityFile = "/does/not/exist" } == .invalidConfiguration)
        #expect(
            try security { $0.clientCertificateFile = "/does/not/exist" } == .invalidConfiguration)
        // A key without a certificate is invalid, although its file is readable.
        #expect(try security { $0.clientKeyFile = #filePath } == .invalidConfiguration)
    }

    private static let environmentForms: [(list: String, name: String, isBypassed: Bool)] = [
        ("127.0.0.1", "no_proxy", true), ("127.0.0.1", "NO_PROXY", true),
        ("127.0.0.2", "no_proxy", false), ("a.example, 127.0.0.0/8", "no_proxy", true),
        ("10.0.0.0/8", "no_proxy", false), ("a.example\t127.0.0.1  b.example", "no_proxy", true),
        ("*", "no_proxy", true), ("*:PORT", "no_proxy", true), ("*:1", "no_proxy", false),
        ("127.0.0.1:PORT", "no_proxy", true), ("127.0.0.1:1", "no_proxy", false),
        ("host.example", "no_proxy", true), (".host.example", "no_proxy", true),
        ("*.host.example:PORT", "no_proxy", true), ("st.example", "no_proxy", false),
    ]

    /// The environment is read once, so each form has a process of its own.
    @Test(arguments: environmentForms)
    func environmentBypassHasTheFormsOfALimitedProxy(
        list: String, name: String, isBypassed: Bool
    ) async {
        await #expect(processExitsWith: .success) {
            [list = list as String, name = name as String, isBypassed = isBypassed as Bool] in
            let proxy = try PlainRequestTests.echo()
            let server = try PlainRequestTests.echo()
            for other in ["no_proxy", "NO_PROXY", "all_proxy", "ALL_PROXY"] { unsetenv(other) }
            setenv("http_proxy", "http://127.0.0.1:\(proxy.port)", 1)
            setenv(name, list.replacing("PORT", with: "\(server.port)"), 1)
            let host = list.contains("st.example") ? "a.host.example" : "127.0.0.1"
            let record = try await CurlTransport().run(.get, "http://\(host):\(server.port)/x") {
                // Through a proxy, an override would become a tunnel.
                if isBypassed { $0.options.addressOverrides = ["a.host.example": ["127.0.0.1"]] }
            }
            let line = String(decoding: record.body, as: UTF8.self)
            guard record.error == nil, line.hasPrefix("GET /x HTTP/1.1") == isBypassed else {
                FileHandle.standardError.write(Data("\(record.errorText) \(line)\n".utf8))
                exit(3)
            }
        }
    }
}
