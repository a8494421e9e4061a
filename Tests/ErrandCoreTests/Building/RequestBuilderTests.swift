import Foundation
import HTTPTypes
import Testing

@testable import ErrandCore

/// Builds requests from descriptions with a base URL.
struct RequestBuilderFixture {
    var configuration = Configuration(baseURL: "http://h/v1")
    var sharedHeaders: HTTPFields = [:]
    var sharedArguments: Arguments = [:]

    func build(_ change: (inout RequestDescription) -> Void) throws -> TransportRequest {
        var description = RequestDescription(endpoint: "GetUser", url: "user")
        change(&description)
        return try RequestBuilder().build(
            description, configuration: SharedConfiguration(configuration),
            sharedHeaders: sharedHeaders, sharedArguments: sharedArguments,
            url: description.url)
    }

    func failure(_ change: (inout RequestDescription) -> Void) -> RequestError? {
        #expect(throws: RequestError.self) { try build(change) }
    }
}

extension TransportRequest {
    /// The in-memory body as text; `nil` for other bodies.
    var bodyText: String? {
        guard case .data(let data)? = body?.storage else { return nil }
        return String(decoding: data, as: UTF8.self)
    }
}

struct RequestBuilderTests {
    private var fixture = RequestBuilderFixture()

    @Test(arguments: [HTTPMethod.get, .head, .delete])
    func argumentsGoIntoTheQuery(method: HTTPMethod) throws {
        for serializer in [RequestSerializer.form, .json, .plist] {
            let request = try fixture.build {
                $0.method = method
                $0.url = "user?x=1#f"
                $0.arguments = ["b": 1, "a": "ü"]
                $0.requestSerializer = serializer
            }
            #expect(request.url.string == "http://h/v1/user?x=1&b=1&a=%C3%BC")
            #expect(request.body == nil)
            #expect(request.headers[.contentType] == nil)
        }
    }

    @Test(arguments: [HTTPMethod.post, .put, .patch, HTTPMethod("PURGE")])
    func argumentsGoIntoTheBody(method: HTTPMethod) throws {
        let request = try fixture.build {
            $0.method = method
            $0.arguments = ["b": 1, "a": "ü"]
        }
        #expect(request.url.string == "http://h/v1/user")
        #expect(request.bodyText == "b=1&a=%C3%BC")
        #expect(request.headers[.contentType] == "application/x-www-form-urlencoded")
    }

    @Test func argumentPlacementOverridesTheMethod() throws {
        let deletion = try fixture.build {
            $0.method = .delete
            $0.arguments = ["a": 1]
            $0.argumentPlacement = .body
        }
        #expect(deletion.url.query == nil && deletion.bodyText == "a=1")
        let post = try fixture.build {
            $0.method = .post
            $0.arguments = ["a": 1]
            $0.argumentPlacement = .query
        }
        #expect(post.url.query == "a=1" && post.body == nil)
        let both = try fixture.build {
            $0.method = .post
            $0.arguments = ["a": 1]
            $0.argumentPlacement = .queryAndBody
            $0.requestSerializer = .json
        }
        #expect(both.url.query == "a=1" && both.bodyText == #"{"a":1}"#)
        let get = try fixture.build {
            $0.arguments = ["a": 1]
            $0.argumentPlacement = .body
        }
        #expect(get.method == .get && get.bodyText == "a=1")
    }

    @Test func serializersSetBodyAndContentType() throws {
        func body(_ serializer: RequestSerializer, _ arguments: Arguments?) throws
            -> TransportRequest
        {
            try fixture.build {
                $0.method = .post
                $0.arguments = arguments
                $0.requestSerializer = serializer
            }
        }
        let form = try body(.form, nil)
        #expect(form.bodyText == "")
        #expect(form.headers[.contentType] == "application/x-www-form-urlencoded")
        let json = try body(.json, nil)
        #expect(json.body == nil && json.headers[.contentType] == nil)
        let emptyJSON = try body(.json, [:])
        #expect(emptyJSON.bodyText == "{}" && emptyJSON.headers[.contentType] == "application/json")
        let plist = try body(.plist, ["a": 1])
        #expect(plist.bodyText?.contains("<key>a</key>") == true)
        #expect(plist.headers[.contentType] == "application/x-plist")
        #expect(try body(.binaryPlist, ["a": 1]).bodyText?.hasPrefix("bplist00") == true)
        let custom = try body(
            .custom(contentType: "text/x") { Data("\($0.count)".utf8) }, ["a": 1, "b": 2])
        #expect(custom.bodyText == "2" && custom.headers[.contentType] == "text/x")
        struct Refused: Error {}
        let error = #expect(throws: RequestError.self) {
            try body(.custom(contentType: "text/x") { _ in throw Refused() }, ["a": 1])
        }
        #expect(error?.code == .invalidArguments && error?.underlying is Refused)
        #expect(error?.message.hasPrefix("GetUser") == true)
    }

    @Test func sharedArgumentsAreMerged() throws {
        var fixture = fixture
        fixture.sharedArguments = ["lang": "en", "v": 2]
        #expect(try fixture.build { $0.arguments = ["lang": "de"] }.url.query == "v=2&lang=de")
        #expect(try fixture.build { _ in }.url.query == "lang=en&v=2")
        fixture.configuration.fixedArgumentNames = ["lang"]
        #expect(try fixture.build { $0.arguments = ["lang": "de"] }.url.query == "lang=en&v=2")
        let post = try fixture.build {
            $0.method = .post
            $0.requestSerializer = .json
        }
        #expect(post.bodyText == #"{"lang":"en","v":2}"#)
    }

    @Test func endpointEncodingOverridesTheConfiguration() throws {
        var fixture = fixture
        fixture.configuration.argumentEncoding = ArgumentEncoding(arrays: .repeated)
        #expect(try fixture.build { $0.arguments = ["a": [1, 2]] }.url.query == "a=1&a=2")
        let own = try fixture.build {
            $0.arguments = ["a": [1, 2]]
            $0.encoding = ArgumentEncoding(arrays: .comma)
        }
        #expect(own.url.query == "a=1,2")
    }

    @Test func customRequestIsSentUnchanged() throws {
        var fixture = fixture
        fixture.sharedArguments = ["shared": 1]
        fixture.sharedHeaders = [.acceptEncoding: "x"]
        let request = try fixture.build {
            $0.url = ""
            $0.authorization = .bearer("t")
            $0.customRequest = CustomRequest(
                url: "https://other/x?y=1#f", method: "REPORT",
                headers: [("X-A", "1"), ("X-A", "2"), ("Content-Length", "2")], body: .string("hi"))
        }
        #expect(request.method == "REPORT")
        #expect(request.url.string == "https://other/x?y=1")
        #expect(request.bodyText == "hi")
        #expect(
            request.headers.filter { $0.name.canonicalName == "x-a" }.map(\.value) == ["1", "2"])
        #expect(request.headers[.authorization] == "Bearer t")
        #expect(request.headers[.acceptEncoding] == nil)
        #expect(!request.headers.contains(.contentLength))
    }

    @Test func endpointSettingsOverrideTheConfiguration() throws {
        var fixture = fixture
        fixture.configuration.timeouts = Timeouts(
            connect: .seconds(1), idle: nil, total: .seconds(3))
        fixture.configuration.transportOptions.maximumBodyBytes = 5
        fixture.configuration.transportOptions.mayReplay = true
        let request = try fixture.build { $0.method = .post }
        #expect(request.timeouts == fixture.configuration.timeouts)
        #expect(request.options.maximumBodyBytes == 5)
        #expect(!request.options.mayReplay)
        var policy = SecurityPolicy()
        policy.validatesDomainName = false
        let own = try fixture.build {
            $0.timeouts = Timeouts(connect: .milliseconds(1))
            $0.uses.remove(.cellular)
            $0.sending.security = policy
        }
        #expect(own.timeouts.connect == .milliseconds(1))
        #expect(!own.options.allowsCellularAccess && own.options.mayReplay)
        #expect(own.options.security == policy)
    }

    @Test(arguments: ["", "GE T", "GET\r\nX: y", "GET\0", "GÉT", "G/T"])
    func invalidMethodsAreRejected(method: String) {
        let error = fixture.failure { $0.method = HTTPMethod(method) }
        #expect(error?.code == .invalidMethod && error?.stage == .build)
    }

    @Test func invalidCombinationsAreRejected() {
        #expect(fixture.failure { $0.method = "CONNECT" }?.code == .unsupported)
        for method in [HTTPMethod.head, .trace] {
            let error = fixture.failure {
                $0.method = method
                $0.body = .string("x")
            }
            #expect(error?.code == .invalidCombination)
        }
        let get = fixture.failure { $0.body = .multipart([.text("a", "b")]) }
        #expect(get?.code == .invalidCombination)
    }

    @Test func timeoutsMustBePositive() {
        for timeouts in [
            Timeouts(connect: .zero), Timeouts(idle: .seconds(-1)), Timeouts(total: .zero),
        ] {
            #expect(fixture.failure { $0.timeouts = timeouts }?.code == .invalidConfiguration)
        }
    }

    @Test func validatorsThatCannotMatchAreRejected() {
        #expect(fixture.failure { $0.acceptance.statuses = [] }?.code == .invalidValidator)
        let error = fixture.failure { $0.validator = .pattern("[") }
        #expect(error?.code == .invalidValidator)
    }

    @Test func validatorNeedsASerializerThatAcceptsJSON() throws {
        let refused: [RequestDescription.Acceptance.Format] = [
            .xml, .propertyList, .firstOf([.propertyList, .xml]), .firstOf([]),
        ]
        for serializer in refused {
            let error = fixture.failure {
                $0.validator = ["a": .int]
                $0.acceptance.format = serializer
            }
            #expect(error?.code == .invalidCombination)
        }
        let accepted: [RequestDescription.Acceptance.Format] = [
            .automatic, .json, .any, .text, .custom { _ in }, .firstOf([.propertyList, .json]),
        ]
        for serializer in accepted {
            _ = try fixture.build {
                $0.validator = ["a": .int]
                $0.acceptance.format = serializer
            }
        }
    }

    @Test func keyRequestUsesTheCacheArguments() throws {
        var description = RequestDescription(endpoint: "GetUser", url: "user?x=1")
        description.arguments = ["a": 1, "nonce": 7]
        func key(_ method: HTTPMethod) throws -> TransportRequest? {
            description.method = method
            let request = try RequestBuilder().build(
                description, configuration: SharedConfiguration(fixture.configuration),
                sharedHeaders: [:], sharedArguments: ["s": 1], url: description.url)
            return try RequestBuilder.keyRequest(
                for: request, description: description, configuration: fixture.configuration,
                sharedArguments: ["s": 1], url: description.url)
        }
        description.cache.arguments = nil
        #expect(try key(.get) == nil)
        description.cache.arguments = ["a": 1]
        #expect(try key(.get)?.url.string == "http://h/v1/user?x=1&s=1&a=1")
        let post = try key(.post)
        #expect(post?.url.query == "x=1" && post?.bodyText == "s=1&a=1")
        description.cache.arguments = [:]
        #expect(try key(.get)?.url.query == "x=1&s=1")

        func cacheKey(nonce: Int) throws -> CacheKey? {
            description.arguments = ["a": 1, "nonce": nonce]
            description.cache.arguments = ["a": 1]
            let request = try RequestBuilder().build(
                description, configuration: SharedConfiguration(fixture.configuration),
                sharedHeaders: [:], sharedArguments: [:], url: description.url)
            return try RequestBuilder.keyRequest(
                for: request, description: description, configuration: fixture.configuration,
                sharedArguments: [:], url: description.url
            ).flatMap { CacheKeyBuilder.key(for: $0, identity: description.cache.identity) }
        }
        let first = try #require(try cacheKey(nonce: 1))
        #expect(try cacheKey(nonce: 2) == first)
        description.cache.identity = "other user"
        #expect(try cacheKey(nonce: 1) != first)
    }
}
