import Foundation
import HTTPTypes
import Testing

@testable import ErrandCore

/// Headers of built requests: defaults, precedence, credentials and validation.
struct HeaderBuilderTests {
    private var fixture = RequestBuilderFixture()

    @Test func defaultHeadersAreAdded() throws {
        let headers = try fixture.build { _ in }.headers
        #expect(headers[.accept] == "*/*")
        #expect(headers[.userAgent]?.hasPrefix("Errand/") == true)
        #expect(!headers.contains(.contentType) && !headers.contains(.authorization))
    }

    @Test func precedenceOfHeaderSources() throws {
        var fixture = fixture
        fixture.configuration.userAgent = "Mine/1"
        fixture.sharedHeaders = [
            .accept: "text/x", .acceptEncoding: "shared", .userAgent: "Shared/1",
        ]
        fixture.sharedHeaders.append(HTTPField(name: .via, value: "1"))
        fixture.sharedHeaders.append(HTTPField(name: .via, value: "2"))
        let headers = try fixture.build {
            $0.headers = [.acceptEncoding: "own", .age: "1"]
            $0.headers[.custom("AGE")] = "2"
            $0.headers[.custom("X-Plain")] = "p"
        }.headers
        #expect(headers[.acceptEncoding] == "own")
        #expect(headers[.accept] == "text/x")
        #expect(headers[.userAgent] == "Shared/1")
        #expect(headers[values: .age] == ["2"])
        #expect(headers[values: .via] == ["1", "2"])
        #expect(headers.contains { $0.name.rawName == "X-Plain" && $0.value == "p" })
        #expect(
            try fixture.build { $0.headers = [.userAgent: "Own"] }.headers[values: .userAgent] == [
                "Own"
            ])
        fixture.sharedHeaders = [:]
        #expect(try fixture.build { _ in }.headers[.userAgent] == "Mine/1")
        fixture.configuration.userAgent = ""
        #expect(try fixture.build { _ in }.headers[.userAgent] == nil)
    }

    @Test func headersKeepTheirOrderAndRepeat() throws {
        let headers = try fixture.build {
            $0.headers = [
                .from: "own", .custom("X-B"): "1", .via: "a", .custom("x-b"): "2",
                .custom("VIA"): "b",
            ]
        }.headers
        let fields = headers.filter { ["x-b", "via", "from"].contains($0.name.canonicalName) }
        #expect(fields.map(\.value) == ["own", "1", "a", "2", "b"])
    }

    /// The rule of HTTPFields: a value cannot become two fields, and nothing of it is lost but the control characters.
    @Test(arguments: ["a\r\nX-B: b", "a\rX-B: b", "a\nX-B: b", "a\0X-B: b"])
    func controlCharactersInValuesBecomeSpaces(value: String) throws {
        let headers = try fixture.build { $0.headers[.custom("X-A")] = value }.headers
        let fields = headers.filter { $0.name.canonicalName.hasPrefix("x-") }
        #expect(fields.count == 1)
        #expect(fields.first?.value.replacing("  ", with: " ") == "a X-B: b")
    }

    @Test func explicitContentTypeIsKept() throws {
        let request = try fixture.build {
            $0.method = .post
            $0.headers = [.contentType: "application/vnd.api+json"]
            $0.requestSerializer = .json
            $0.arguments = ["a": 1]
        }
        #expect(request.headers[values: .contentType] == ["application/vnd.api+json"])
    }

    @Test func authorizationHeaderFromCredentials() throws {
        func header(_ authorization: Authorization?, url: EndpointURL = "user") throws -> String? {
            try fixture.build {
                $0.authorization = authorization
                $0.url = url
            }.headers[.authorization]
        }
        #expect(
            try header(.basic(user: "Aladdin", password: "open sesame"))
                == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
        #expect(try header(.basic(user: "ü", password: ":")) == "Basic w7w6Og==")
        #expect(try header(.bearer("abc.def")) == "Bearer abc.def")
        #expect(try header(.custom("ApiKey 1")) == "ApiKey 1")
        #expect(try header(nil, url: "http://a:p%40@h/") == "Basic YTpwQA==")
        #expect(try header(.bearer("x"), url: "http://a:p@h/") == "Bearer x")
        #expect(try fixture.build { $0.url = "http://a:p@h/x" }.url.string == "http://h/x")
        var sharing = fixture
        sharing.sharedHeaders = [.authorization: "shared"]
        #expect(
            try sharing.build { $0.authorization = .bearer("own") }.headers[values: .authorization]
                == ["Bearer own"])
        #expect(try sharing.build { $0.url = "http://a:p@h/" }.headers[.authorization] == "shared")
    }

    @Test func invalidCredentialsAreRejected() {
        for authorization in [
            Authorization.basic(user: "a:b", password: "c"), .bearer(""), .bearer("a\r\nX: y"),
            .bearer("a b"), .custom("a\nb"),
        ] {
            let error = fixture.failure { $0.authorization = authorization }
            #expect(error?.code == .invalidHeader)
        }
        let both = fixture.failure {
            $0.authorization = .bearer("a")
            $0.headers = [.authorization: "b"]
        }
        #expect(both?.code == .invalidCombination)
    }

    @Test(arguments: [
        ("X-A", "a\r\nX-B: b"), ("X-A", "a\0"), ("X-A", "\n"), ("X-A", "\u{7F}"), ("X A", "a"),
        ("", "a"), ("X-A:", "a"), ("X\r\n", "a"), ("Ü", "a"), (":path", "/"),
    ])
    func headerNamesAndValuesAreValidated(name: String, value: String) {
        if HTTPField.Name(name) == nil {
            let error = fixture.failure { $0.headers[.custom(name)] = value }
            #expect(error?.code == .invalidHeader)
            #expect(error?.message.contains(name.debugDescription) == true)
            var fixture = fixture
            fixture.sharedHeaders[.custom(name)] = value
            #expect(fixture.failure { _ in }?.code == .invalidHeader)
        }
        let custom = fixture.failure {
            $0.url = ""
            $0.customRequest = CustomRequest(
                url: "http://h/", method: .get, headers: [(name, value)], body: nil)
        }
        #expect(custom?.code == .invalidHeader)
    }

    @Test func valuesMayContainTabsAndNonASCII() throws {
        let headers = try fixture.build {
            $0.headers[.custom("X-A")] = "a\tü"
            $0.headers[.custom("Cookie")] = "a=1; b=2"
        }.headers
        #expect(headers.contains { $0.name.rawName == "X-A" && $0.value == "a\tü" })
        #expect(headers.filter { $0.name == .cookie }.map(\.value) == ["a=1; b=2"])
    }

    @Test func cookiesAreSentInOneField() throws {
        let headers = try fixture.build { $0.headers[.cookie] = "a=1; b=2; c=3" }.headers
        #expect(headers.filter { $0.name == .cookie }.map(\.value) == ["a=1; b=2; c=3"])
    }

    @Test(arguments: [
        ("Host", "evil.example"), ("content-length", "5"), ("Transfer-Encoding", "chunked"),
        ("Content-Length", "x"),
    ])
    func conflictingTransportHeadersAreRejected(name: String, value: String) throws {
        let error = fixture.failure { $0.headers[.custom(name)] = value }
        #expect(error?.code == .invalidHeader)
        #expect(error?.message.contains("transport") == true)
        var fixture = fixture
        let field = try #require(HTTPField.Name(name))
        fixture.sharedHeaders.append(HTTPField(name: field, value: value))
        #expect(fixture.failure { _ in }?.code == .invalidHeader)
    }

    @Test func matchingTransportHeadersAreLeftToTheTransport() throws {
        let headers = try fixture.build {
            $0.method = .post
            $0.body = .string("12345")
            $0.headers = [.contentLength: "5", .custom("Host"): "H"]
        }.headers
        #expect(!headers.contains(.contentLength))
        #expect(!headers.contains { $0.name.canonicalName == "host" })
    }

    @Test func acceptLanguageFromTheEnvironment() {
        func header(_ environment: [String: String]) -> String? {
            DefaultHeaders.acceptLanguage(DefaultHeaders.languages(ofEnvironment: environment))
        }
        #expect(header([:]) == nil)
        #expect(header(["LANG": "C.UTF-8"]) == nil)
        #expect(header(["LANG": "de_DE.UTF-8", "LC_ALL": "POSIX"]) == nil)
        #expect(header(["LANG": "de_DE.UTF-8"]) == "de-DE, de;q=0.9")
        #expect(header(["LANG": "en_US", "LC_MESSAGES": "fr", "LC_ALL": ""]) == "fr")
        #expect(
            header(["LANG": "de_DE@euro", "LANGUAGE": "pt_BR:en"])
                == "pt-BR, pt;q=0.9, en;q=0.8, de-DE;q=0.7, de;q=0.6")
        #expect(header(["LANG": "a\r\nb"]) == nil)
        #expect(
            header(["LANG": "a_A", "LANGUAGE": "b_B:c_C:d_D:e_E"])
                == "b-B, b;q=0.9, c-C;q=0.8, c;q=0.7, d-D;q=0.6, d;q=0.5")
    }
}
