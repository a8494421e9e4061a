import ErrandJSON
import Foundation
import Testing

@testable import ErrandHTTP

/// The JSON of a response is parsed at most once for its copies.
@Suite struct ResponseJSONTests {
    private let response: Response

    init() throws {
        response = Response(
            status: .ok, body: .data(Data(#"{"a": [1, null], "b": null}"#.utf8)),
            url: try HTTPURL(parsing: "http://a.example/"))
    }

    /// A file is read again only if JSON is parsed again.
    @Test(arguments: [false, true])
    func changedCopiesShareIt(_ isParsedBefore: Bool) throws {
        let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: file) }
        try Data("[1]".utf8).write(to: file)
        let response = Response(status: .ok, body: .file(file), url: response.url)
        if isParsedBefore { #expect(response.json[0].int == 1) }
        var copy = response
        copy.headers[.eTag] = "x"
        let decoding = copy.using(Shared(JSONReader()))
        if !isParsedBefore { #expect(decoding.json[0].int == 1) }
        try Data("[2]".utf8).write(to: file)
        for response in [response, copy, decoding] { #expect(response.json[0].int == 1) }
    }

    @Test(arguments: [false, true])
    func anotherBodyHasItsOwn(_ isParsedBefore: Bool) throws {
        if isParsedBefore { _ = response.json }
        var copy = response
        copy.body = .data(Data("[2]".utf8))
        #expect(copy.json[0].int == 2)
        #expect(response.json["a"][0].int == 1)
        copy.headers[.eTag] = "x"
        #expect(copy.json[0].int == 2)
    }

    @Test(arguments: [false, true])
    func nullsAreRemovedFromACopyAlone(_ isParsedBefore: Bool) throws {
        if isParsedBefore { _ = response.json }
        var copy = response
        copy.removeNulls()
        copy.headers[.eTag] = "x"
        #expect(copy.json == (try JSON(parsing: Data(#"{"a": [1]}"#.utf8))))
        #expect(response.json["a"].array?.count == 2)
    }
}
