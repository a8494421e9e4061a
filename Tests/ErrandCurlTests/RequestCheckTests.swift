import CLibcurl
import ErrandCore
import ErrandTesting
import Foundation
import HTTPTypes
import Testing

@testable import ErrandCurl

/// Requests that the transport refuses: the error names the caller's setting, and nothing is sent.
@Suite struct RequestCheckTests {
    struct Refusal: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let code: RequestError.Code
        let change: @Sendable (inout TransportRequest) throws -> Void

        init(
            _ name: String, _ code: RequestError.Code,
            _ change: @escaping @Sendable (inout TransportRequest) throws -> Void
        ) {
            testDescription = name
            self.code = code
            self.change = change
        }

        static func security(
            _ name: String, _ change: @escaping @Sendable (inout SecurityPolicy) -> Void
        ) -> Refusal {
            Refusal(name, .invalidConfiguration) { request in
                var policy = SecurityPolicy()
                change(&policy)
                request.options.security = policy
            }
        }
    }

    private static let readable = #filePath
    private static let pin = Data(repeating: 1, count: 32).base64EncodedString()

    static let mistakes: [Refusal] = [
        Refusal("relative URL", .invalidURL) { $0.url = HTTPURL(path: "/x") },
        Refusal("scheme", .invalidURL) { $0.url.scheme = "ftp" },
        Refusal("method with a space", .invalidMethod) { $0.method = HTTPMethod("GET /x") },
        Refusal("method with NUL", .invalidMethod) { $0.method = HTTPMethod("GET\0") },
        Refusal("CONNECT", .unsupported) { $0.method = "CONNECT" },
        Refusal("HEAD with a body", .invalidCombination) {
            $0.method = .head
            $0.body = .string("x")
        },
        Refusal("Proxy-Authorization", .invalidHeader) {
            $0.headers[.proxyAuthorization] = "Basic eA=="
        },
        Refusal("HTTP/2 by ALPN without TLS", .invalidCombination) {
            $0.url.scheme = "http"
            $0.options.httpVersion = .http2
        },
        Refusal("no proxy URL", .invalidConfiguration) { $0.options.proxy = .url("127.0.0.1") },
        Refusal("proxy with NUL", .invalidConfiguration) {
            $0.options.proxy = .url("http://proxy.test\0.example:1")
        },
        Refusal("proxy scheme", .invalidConfiguration) { $0.options.proxy = .url("ftp://host:1") },
        Refusal("bypass with an invalid port", .invalidConfiguration) {
            $0.options.proxy = .url("http://a:1", bypass: ["b:port"])
        },
        Refusal("bypass with NUL", .invalidConfiguration) {
            $0.options.proxy = .url("http://a:1", bypass: ["b\0c"])
        },
        Refusal("empty socket path", .invalidConfiguration) { $0.options.unixSocketPath = "" },
        Refusal("socket path with NUL", .invalidConfiguration) {
            $0.options.unixSocketPath = "/a\0b"
        },
        Refusal("long socket path", .invalidConfiguration) {
            $0.options.unixSocketPath = String(repeating: "x", count: 108)
        },
        Refusal("socket path and a proxy", .invalidCombination) {
            $0.options.unixSocketPath = "/a"
            $0.options.proxy = .url("http://proxy.test:1")
        },
        Refusal("name of an override", .invalidConfiguration) {
            $0.options.addressOverrides = ["a/b": ["::1"]]
        },
        Refusal("override without an address", .invalidConfiguration) {
            $0.options.addressOverrides = ["a": []]
        },
        Refusal("override with a name", .invalidConfiguration) {
            $0.options.addressOverrides = ["a": ["b"]]
        },
        .security("authorities as text and file") {
            $0.authorities = "x"
            $0.authorityFile = readable
        },
        .security("missing authority file") { $0.authorityFile = "/does/not/exist" },
        .security("authority file with NUL") { $0.authorityFile = readable + "\0.pem" },
        .security("missing certificate file") { $0.clientCertificateFile = "/does/not/exist" },
        .security("key without a certificate") { $0.clientKeyFile = readable },
        .security("missing identity") {
            $0.clientIdentity = .pkcs12(file: "/does/not/exist", password: "")
        },
        .security("password with NUL") {
            $0.clientIdentity = .pkcs12(file: readable, password: "a\0b")
        },
        .security("identity and files") {
            $0.clientIdentity = .pkcs12(file: readable, password: "")
            $0.clientCertificateFile = readable
        },
        .security("malformed key") { $0.publicKeyPins = ["nonsense"] },
        .security("malformed key of a host") {
            $0.pins = [SecurityPolicy.Pins("example.test", publicKeys: ["nonsense"])]
        },
        .security("malformed certificate") {
            $0.pins = [SecurityPolicy.Pins("example.test", certificates: ["nonsense"])]
        },
        .security("pin without a key") { $0.pins = [SecurityPolicy.Pins("example.test")] },
        .security("pin with a port") {
            $0.pins = [SecurityPolicy.Pins("example.test:443", publicKeys: [pin])]
        },
        .security("unverified certificate and name") { $0.allowInvalidCertificates = true },
        Refusal("pins without TLS", .invalidConfiguration) {
            $0.url.scheme = "http"
            $0.options.security = SecurityPolicy()
            $0.options.security?.publicKeyPins = [pin]
        },
        Refusal("pins for the proxy", .unsupported) {
            $0.options.proxySecurity = SecurityPolicy()
            $0.options.proxySecurity?.publicKeyPins = [pin]
        },
        Refusal("authority file for the proxy", .invalidConfiguration) {
            $0.options.proxySecurity = SecurityPolicy()
            $0.options.proxySecurity?.authorityFile = "/does/not/exist"
        },
        Refusal("unverified proxy", .invalidConfiguration) {
            $0.options.proxySecurity = SecurityPolicy()
            $0.options.proxySecurity?.allowInvalidCertificates = true
        },
    ]

    private func request(_ refusal: Refusal) throws -> TransportRequest {
        var request = TransportRequest(url: try .test("https://example.test/"))
        try refusal.change(&request)
        return request
    }

    @Test(arguments: mistakes)
    func mistakeHasStageBuild(refusal: Refusal) throws {
        let request = try request(refusal)
        let error = #expect(throws: RequestError.self) { try CurlTransport().check(request) }
        #expect(error?.code == refusal.code, "\(String(describing: error))")
        #expect(error?.stage == .build)
        #expect(error?.attempts == 0)
    }

    @Test func missingLibraryNamesThePackage() throws {
        var library = CurlLibrary.linked
        #expect(library.problem == nil)
        library.problem = CurlLibrary.problem(isLoaded: false, version: 0)
        let request = TransportRequest(url: try .test("http://example.test/"))
        let error = #expect(throws: RequestError.self) {
            try RequestCheck(library: library).check(request)
        }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.message.contains("Install the package libcurl4") == true)
        let old = CurlLibrary.problem(isLoaded: true, version: 0x07_4C_01)
        #expect(old?.contains("libcurl 7.76.1 is too old") == true)
        #expect(old?.contains("use URLSessionTransport") == true)
        #expect(CurlLibrary.problem(isLoaded: true, version: 0x07_57_00) == nil)
    }

    /// A libcurl without a feature; the request itself is correct.
    @Test func missingFeatureIsUnsupported() throws {
        func error(
            _ library: (inout CurlLibrary) -> Void, _ change: (inout TransportRequest) -> Void
        ) throws -> RequestError? {
            var linked = CurlLibrary.linked
            library(&linked)
            var request = TransportRequest(url: try .test("https://example.test/"))
            change(&request)
            do throws(RequestError) {
                try RequestCheck(library: linked).check(request)
                return nil
            } catch {
                return error
            }
        }
        let identity = ClientIdentity.pkcs12(file: Self.readable, password: "")
        let errors = [
            try error({ $0.hasTLS = false }) { _ in },
            try error({ $0.hasOpenSSL = false }) { $0.options.httpVersion = .http2 },
            try error({ $0.hasSecureProxies = false }) { $0.options.proxy = .url("https://a:1") },
            try error({ $0.hasSecureProxies = false }) {
                $0.options.proxySecurity = SecurityPolicy()
            },
            try error({ $0.hasUnixSockets = false }) { $0.options.unixSocketPath = "/a" },
            try error({ $0.hasOpenSSL = false }) {
                $0.options.security = SecurityPolicy()
                $0.options.security?.authorities = "x"
            },
            try error({ $0.hasOpenSSL = false }) {
                $0.options.security = SecurityPolicy()
                $0.options.security?.clientIdentity = identity
            },
        ]
        for error in errors {
            #expect(error?.code == .unsupported)
            #expect(error?.message.contains("was built without") == true)
        }
        #expect(try error({ _ in }) { $0.options.httpVersion = .http2 } == nil)
    }

    @Test func rejectedOptionHasStageBuild() {
        #expect(CurlFailure.optionRejected(CURLE_UNKNOWN_OPTION).stage == .build)
    }
}
