import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import ErrandCore

/// Arguments of a request with a multipart body.
@Suite(.limited) struct MultipartArgumentsTests {
    @Test func argumentsBecomeParts() async throws {
        let fixture = RequestBuilderFixture()
        let request = try fixture.build {
            $0.method = .post
            $0.arguments = [
                "b": true, "a": ["x": [1, 2]], "n": nil, "d": Data([1, 2]), "a[b]": "ü",
                "s": Set(["q", "p"]),
            ]
            $0.body = .multipart([.text("last", "z")], boundary: "B")
        }
        #expect(request.url.query == nil)
        #expect(request.headers[.contentType] == "multipart/form-data; boundary=B")
        let body = try #require(request.body)
        let bytes = try await body.bytes()
        #expect(body.knownLength == Int64(bytes.count))
        let parts = try #require(parseMultipart(bytes, boundary: "B"))
        #expect(
            parts.map { $0.disposition("name") }
                == ["b", "a[x][]", "a[x][]", "n", "d", "a[b]", "s", "s", "last"])
        #expect(
            parts.map(\.body)
                == ["1", "1", "2", "", "\u{1}\u{2}", "ü", "p", "q", "z"].map { Data($0.utf8) })
    }
}
