import ErrandTesting
import Foundation
import HTTPTypes
import Testing

@testable import ErrandCore

/// Shared headers and arguments of a configuration, and their precedence.
struct SharedValueTests {
    private var fixture = RequestBuilderFixture()

    @Test func fixedHeadersOverrideTheRequest() throws {
        var fixture = fixture
        fixture.sharedHeaders = [.from: "shared", .via: "shared", .authorization: "Basic c2hhcmVk"]
        fixture.configuration.fixedHeaderNames = [.from, .authorization, .age]
        let headers = try fixture.build {
            $0.headers = [.from: "own", .via: "own", .age: "1"]
            $0.authorization = .bearer("own")
        }.headers
        #expect(headers[values: .from] == ["shared"])
        #expect(headers[values: .via] == ["own"])
        #expect(headers[values: .authorization] == ["Basic c2hhcmVk"])
        // A fixed name without a shared value keeps the value of the request.
        #expect(headers[.age] == "1")
    }

    @Test func hostArgumentsOverrideSharedArguments() async throws {
        var configuration = Configuration(baseURL: "http://api.example.com/")
        configuration.sharedArguments = ["a": 1, "b": 1, "c": 1]
        configuration.hostArguments = [
            "*.example.com": ["b": 2, "c": 2], "api.example.com": ["c": 3], "other.com": ["d": 4],
        ]
        var description = RequestDescription(endpoint: "E", url: "x")
        func query() async throws -> String? {
            let agent = RequestAgent(configuration: configuration, transport: ScriptedTransport())
            return try await agent.transportRequest(for: description).url.query
        }
        #expect(try await query() == "a=1&b=2&c=3")
        description.arguments = ["c": 9]
        #expect(try await query() == "a=1&b=2&c=9")
        description.url = "http://other.com/"
        #expect(try await query() == "a=1&b=1&d=4&c=9")
        description.uses.remove(.sharedArguments)
        #expect(try await query() == "c=9")
    }

    @Test func formsUseTheConfiguredCharset() throws {
        let request = try fixture.build {
            $0.method = .post
            $0.arguments = ["名": "中文 a"]
            $0.encoding = ArgumentEncoding(charset: .gb18030)
        }
        #expect(request.bodyText == "%C3%FB=%D6%D0%CE%C4%20a")
        #expect(
            request.headers[.contentType] == "application/x-www-form-urlencoded; charset=gb18030")
        let query = try fixture.build {
            $0.arguments = ["k": "é"]
            $0.encoding = ArgumentEncoding(charset: .latin1)
        }
        #expect(query.url.query == "k=%E9")
        let error = fixture.failure {
            $0.arguments = ["k": "中"]
            $0.encoding = ArgumentEncoding(charset: .latin1)
        }
        #expect(error?.code == .invalidArguments)
        #expect(error?.message.contains("\"k\"") == true && error?.message.contains("中") == false)
    }

    @Test func customRequestsRoundTripThroughCodable() throws {
        let headers = [(name: "X-A", value: "1"), (name: "X-A", value: "2")]
        for body in [
            nil, HTTPBody.data(Data([0, 255]), contentType: "a/b"), .string("x", contentType: nil),
            .file(URL(fileURLWithPath: "/tmp/x"), contentType: "c/d"),
        ] {
            let request = CustomRequest(
                url: "http://h/x?a=1", method: "PURGE", headers: headers, body: body)
            let read = try JSONDecoder().decode(
                CustomRequest.self, from: JSONEncoder().encode(request))
            #expect(read.url == request.url && read.method == request.method)
            #expect(read.headers.map(\.value) == ["1", "2"])
            #expect(read.body?.contentType == body?.contentType)
            switch (read.body?.storage, body?.storage) {
            case (nil, nil): break
            case (.data(let left)?, .data(let right)?): #expect(left == right)
            case (.file(let left)?, .file(let right)?): #expect(left == right)
            default: Issue.record("The decoded body differs.")
            }
        }
        let parts = HTTPBody.multipart([.text("a", "b")])
        #expect(throws: EncodingError.self) {
            try JSONEncoder().encode(
                CustomRequest(url: "http://h/", method: .post, headers: [], body: parts))
        }
    }
}
