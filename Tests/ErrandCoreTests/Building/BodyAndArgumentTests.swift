import ErrandJSON
import Foundation
import Testing

@testable import ErrandCore

/// Bodies beside arguments, the JSON encoder of both, and names that the URL has too.
struct BodyAndArgumentTests {
    private let fixture = RequestBuilderFixture()

    @Test(arguments: [HTTPMethod.post, .put, .patch, .delete, .get, HTTPMethod("PURGE")])
    func argumentsGoIntoTheQueryBesideAnOwnBody(method: HTTPMethod) throws {
        var fixture = fixture
        fixture.sharedArguments = ["s": 2]
        for placement in [Arguments.Placement.automatic, .query] {
            for body in [HTTPBody.string("hello", contentType: nil), .json("hello")] {
                let request = try fixture.build {
                    $0.method = method
                    $0.arguments = ["a": 1]
                    $0.argumentPlacement = placement
                    $0.body = body
                }
                #expect(request.url.query == "s=2&a=1")
                #expect(request.bodyText?.contains("hello") == true)
                #expect(request.headers[.contentType] == body.contentType)
            }
        }
    }

    @Test(arguments: [Arguments.Placement.body, .queryAndBody])
    func argumentsCannotBePlacedIntoAnOwnBody(placement: Arguments.Placement) throws {
        var fixture = fixture
        func failure(_ arguments: Arguments?) -> RequestError? {
            fixture.failure {
                $0.method = .post
                $0.arguments = arguments
                $0.argumentPlacement = placement
                $0.body = .string("hello")
            }
        }
        #expect(failure(["a": 1])?.code == .invalidCombination)
        fixture.sharedArguments = ["s": 1]
        #expect(failure(nil)?.code == .invalidCombination)
        #expect(failure(nil)?.message.contains(".sharedArguments") == true)
        fixture.sharedArguments = [:]
        let request = try fixture.build {
            $0.method = .post
            $0.argumentPlacement = placement
            $0.body = .string("hello")
        }
        #expect(request.bodyText == "hello" && request.url.query == nil)
    }

    private struct Note: Encodable { var createdAt = Date(timeIntervalSince1970: 1) }

    @Test func jsonEncoderAppliesToBodyAndArguments() throws {
        var fixture = fixture
        func bodies(_ own: JSONOptions.Dates?) throws -> [String?] {
            let body = try fixture.build {
                $0.method = .post
                $0.body = .json(Note())
                $0.json.dates = own
            }
            let arguments = try fixture.build {
                $0.method = .post
                $0.requestSerializer = .json
                $0.arguments = Arguments(encoding: Note())
                $0.json.dates = own
            }
            let custom = try fixture.build {
                $0.customRequest = CustomRequest(
                    url: "x", method: .post, headers: [], body: .json(Note()))
                $0.url = ""
                $0.json.dates = own
            }
            #expect(body.headers[.contentType] == "application/json")
            return [body.bodyText, arguments.bodyText, custom.bodyText]
        }
        let plain = #"{"createdAt":"1970-01-01T00:00:01Z"}"#
        #expect(try bodies(nil) == [plain, plain, plain])
        fixture.configuration.json.keys = .snakeCase
        let snake = #"{"created_at":"1970-01-01T00:00:01Z"}"#
        #expect(try bodies(nil) == [snake, snake, snake])
        // The other strategies stay those of the configuration.
        #expect(
            try bodies(.secondsSince1970) == Array(repeating: #"{"created_at":1}"#, count: 3))
        #expect(
            try fixture.build { $0.arguments = Arguments(encoding: Note()) }.url.query
                == "created_at=1970-01-01T00%3A00%3A01Z")
    }

    @Test func valueThatCannotBeEncodedFails() {
        struct Ratio: Encodable { var ratio = Double.nan }
        let body = fixture.failure {
            $0.method = .post
            $0.body = .json(Ratio())
        }
        #expect(body?.code == .invalidBody && body?.stage == .build)
        #expect(body?.message.contains("$.ratio") == true)
        for method in [HTTPMethod.get, .post] {
            let arguments = fixture.failure {
                $0.method = method
                $0.arguments = Arguments(encoding: [1])
            }
            #expect(arguments?.code == .invalidArguments && arguments?.stage == .build)
        }
        let custom = fixture.failure {
            $0.method = .post
            $0.arguments = ["list": Arguments(encoding: [1])]
            $0.requestSerializer = .custom(contentType: "x/y") { _ in Data() }
        }
        #expect(custom?.code == .invalidArguments)
    }

    @Test func argumentsWithNamesOfTheURL() throws {
        func query(_ rule: ArgumentEncoding.DuplicateNames) throws -> String? {
            try fixture.build {
                $0.url = "user?a=1&b=1"
                $0.arguments = ["b": 2, "c": 3]
                $0.encoding = ArgumentEncoding(duplicateNames: rule)
            }.url.query
        }
        #expect(try query(.append) == "a=1&b=1&b=2&c=3")
        #expect(try query(.keepFirst) == "a=1&b=1&c=3")
        #expect(try query(.replace) == "a=1&b=2&c=3")
        let error = #expect(throws: RequestError.self) { try query(.refuse) }
        #expect(error?.code == .invalidArguments && error?.stage == .build)
        var replacing = fixture
        replacing.configuration.argumentEncoding.duplicateNames = .replace
        let url = try replacing.build {
            $0.url = "user?a=1"
            $0.arguments = ["a": 2]
        }.url
        #expect(url.string == "http://h/v1/user?a=2")
    }

    @Test(arguments: [ArgumentEncoding.DuplicateNames.append, .keepFirst, .replace])
    func cacheKeyFollowsTheRuleForDuplicateNames(rule: ArgumentEncoding.DuplicateNames) throws {
        func key(nonce: Int) throws -> String? {
            var description = RequestDescription(endpoint: "GetUser", url: "user?a=1&n=0")
            description.arguments = ["a": 2, "b": 3, "nonce": nonce]
            description.cache.arguments = ["a": 2, "b": 3]
            description.encoding = ArgumentEncoding(duplicateNames: rule)
            let request = try RequestBuilder().build(
                description, configuration: SharedConfiguration(fixture.configuration),
                sharedHeaders: [:], sharedArguments: [:], url: description.url)
            return try RequestBuilder.keyRequest(
                for: request, description: description, configuration: fixture.configuration,
                sharedArguments: [:], url: description.url)?.url.query
        }
        let expected: [ArgumentEncoding.DuplicateNames: String] = [
            .append: "a=1&n=0&a=2&b=3", .keepFirst: "a=1&n=0&b=3", .replace: "n=0&a=2&b=3",
        ]
        #expect(try key(nonce: 1) == expected[rule])
        #expect(try key(nonce: 2) == expected[rule])
    }
}
