import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import ErrandTransport

/// The encoding of multipart bodies.
@Suite(.limited)
struct MultipartBodyTests {
    private func bytes(of body: HTTPBody, pieces: Int = 100) async throws -> Data {
        let source = try body.makeSource()
        let drained = await drain(source, pieces: pieces)
        if let error = drained.error { throw error }
        if let length = source.length { #expect(length == Int64(drained.data.count)) }
        return drained.data
    }

    @Test func partsAreEncodedByteByByte() async throws {
        let body = MultipartBody(
            [
                .text("title", "Süß"),
                .data("raw", Data([0, 13, 10, 255])),
                .data("pic", Data("x".utf8), filename: "a.png"),
                .json("meta", ["b": 1, "a": 2]),
            ], boundary: "B")
        let expected =
            "--B\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\nSüß\r\n"
            + "--B\r\nContent-Disposition: form-data; name=\"raw\"\r\n\r\n"
        let rest =
            "\r\n--B\r\nContent-Disposition: form-data; name=\"pic\"; filename=\"a.png\"\r\n"
            + "Content-Type: image/png\r\n\r\nx\r\n"
            + "--B\r\nContent-Disposition: form-data; name=\"meta\"\r\n"
            + "Content-Type: application/json\r\n\r\n{\"a\":2,\"b\":1}\r\n--B--\r\n"
        let whole = Data(expected.utf8) + Data([0, 13, 10, 255]) + Data(rest.utf8)
        #expect(
            try await bytes(of: HTTPBody(multipart: body, contentType: body.contentType)) == whole)
        #expect(
            try await bytes(of: HTTPBody(multipart: body, contentType: body.contentType), pieces: 1)
                == whole)
        let encoded = try HTTPBody(multipart: body, contentType: body.contentType).encoded(
            by: .requestDefault)
        #expect(encoded.knownLength == Int64(whole.count))
        #expect(
            HTTPBody(multipart: body, contentType: body.contentType).contentType
                == "multipart/form-data; boundary=B")
    }

    @Test func filesAreStreamedWithKnownLength() async throws {
        let file = try TemporaryFile(Data(repeating: 9, count: 300_000), name: "film.mp4")
        let body = MultipartBody([.text("a", "1"), .file("film", file.url), .text("b", "2")])
        let source = try HTTPBody(multipart: body, contentType: body.contentType).makeSource()
        #expect(source.length != nil)
        let drained = await drain(source, pieces: 65_536)
        #expect(Int64(drained.data.count) == source.length)
        let parts = try #require(parseMultipart(drained.data, boundary: body.boundary))
        #expect(parts.map { $0.disposition("name") } == ["a", "film", "b"])
        #expect(parts[1].disposition("filename") == "film.mp4")
        #expect(parts[1].headers["content-type"] == "video/mp4")
        #expect(parts[1].body == Data(repeating: 9, count: 300_000))
        #expect(source.rewind())
        #expect(await drain(source, pieces: 65_536).data == drained.data)
    }

    @Test func lengthToSendIncludesFilesAndConsumesNothing() async throws {
        let file = try TemporaryFile(Data(repeating: 9, count: 300_000), name: "film.mp4")
        let body = HTTPBody.multipart([
            .text("a", "1"), .file("film", file.url),
            .stream("once", length: 3, isReplayable: false) {
                AsyncStream { stream in
                    stream.yield(Data("abc".utf8))
                    stream.finish()
                }
            },
        ])
        #expect(body.knownLength == nil)
        let length = body.lengthToSend
        #expect(!body.isConsumed)
        #expect(try await bytes(of: body).count == length.map { Int($0) })
        let missing = HTTPBody.multipart([.file("film", file.url.appendingPathExtension("missing"))]
        )
        #expect(missing.lengthToSend == nil)
        let endless = HTTPBody.multipart([.stream("s") { AsyncStream { _ in } }])
        #expect(endless.lengthToSend == nil)
    }

    @Test func smallPartsShareOneRead() throws {
        let body = MultipartBody([.text("a", "1"), .text("b", "2")])
        let source = try HTTPBody(multipart: body, contentType: body.contentType).makeSource()
        var buffer = Data(count: 16_384)
        let read = buffer.withUnsafeMutableBytes { source.read(into: $0) }
        guard case .bytes(let count) = read else {
            Issue.record("read \(read)")
            return
        }
        #expect(Int64(count) == source.length)
    }

    @Test func streamsWithAndWithoutLength() async throws {
        func body(_ length: Int64?) -> HTTPBody {
            .multipart(
                [
                    .stream("s", length: length, filename: "s.bin") {
                        AsyncStream<Data> { chunks in
                            chunks.yield(Data("abc".utf8))
                            chunks.yield(Data("def".utf8))
                            chunks.finish()
                        }
                    }
                ], boundary: "B")
        }
        #expect(try body(6).makeSource().length != nil)
        #expect(try body(nil).makeSource().length == nil)
        let parts = try #require(parseMultipart(try await bytes(of: body(6)), boundary: "B"))
        #expect(parts.map(\.body) == [Data("abcdef".utf8)])
        #expect(try await bytes(of: body(nil)) == bytes(of: body(6)))
        await #expect(throws: RequestError.self) { try await bytes(of: body(7)) }
    }

    @Test func missingFileFailsBeforeSending() {
        let body = MultipartBody([.file("f", URL(fileURLWithPath: "/no/such/file"))])
        let error = #expect(throws: RequestError.self) {
            try HTTPBody(multipart: body, contentType: body.contentType).makeSource()
        }
        #expect(error?.code == .invalidBody && error?.stage == .build)
    }

    @Test func fileChangedBeforeItIsReadFails() async throws {
        let file = try TemporaryFile(Data(count: 100))
        let source = try HTTPBody.multipart([.file("f", file.url)]).makeSource()
        try Data(count: 101).write(to: file.url)
        #expect(await drain(source).error?.code == .bodyReadFailed)
    }

    @Test func boundariesAreRandomAndLong() {
        let boundaries = Set((0..<100).map { _ in MultipartBody().boundary })
        #expect(boundaries.count == 100)
        #expect(boundaries.allSatisfy { $0.count == "errand-".count + 32 })
    }

    @Test(arguments: ["", "a ", "a\r\n", "ä", String(repeating: "a", count: 71), "a\"b"])
    func invalidBoundariesAreRejected(boundary: String) {
        let error = #expect(throws: RequestError.self) {
            try HTTPBody.multipart([], boundary: boundary).makeSource()
        }
        #expect(error?.code == .invalidBody)
    }

    @Test func boundaryIsQuotedWhenNeeded() {
        #expect(
            MultipartBody([], boundary: "a:b c").contentType
                == "multipart/form-data; boundary=\"a:b c\"")
    }

    @Test(arguments: [
        "plain.txt", "with \"quotes\".txt", "a\r\nX-Injected: 1\r\n\r\n.txt", "\n", "\r",
        "naïve ü 日本.png",
        "\"; name=\"other", "semi;colon", "back\\slash", "👨‍👩‍👧‍👦.png", "%20", "", " ", "a\u{7}b",
    ])
    func namesCannotEndTheirQuotes(name: String) async throws {
        let body = MultipartBody(
            [.data("field", Data("x".utf8), filename: name), .text(name, "y")], boundary: "B")
        let parts = try #require(
            parseMultipart(
                try await bytes(of: HTTPBody(multipart: body, contentType: body.contentType)),
                boundary: "B"))
        #expect(parts.count == 2)
        #expect(parts[0].disposition("name") == "field")
        #expect(parts[0].disposition("filename") == name)
        #expect(
            parts.map { Set($0.headers.keys) } == [
                ["content-disposition", "content-type"], ["content-disposition"],
            ])
        // The names of form fields use CRLF for each line break.
        let lines = name.replacingOccurrences(of: "\r\n", with: "\n")
            .replacingOccurrences(of: "\r", with: "\n")
            .replacingOccurrences(of: "\n", with: "\r\n")
        #expect(parts[1].disposition("name") == lines)
    }

    @Test func explicitHeadersOverrideDefaults() async throws {
        let body = MultipartBody(
            [
                .init(
                    name: "a", body: .string("x"),
                    headers: [.contentType: "text/html", .contentLanguage: "de"]),
                .init(name: nil, body: .data(Data("y".utf8), contentType: nil), headers: [:]),
                .init(
                    name: "c", body: .string("z", contentType: nil),
                    headers: [.contentDisposition: "attachment"]),
            ], boundary: "B")
        let parts = try #require(
            parseMultipart(
                try await bytes(of: HTTPBody(multipart: body, contentType: body.contentType)),
                boundary: "B"))
        #expect(parts[0].headers["content-type"] == "text/html")
        #expect(parts[0].headers["content-language"] == "de")
        #expect(parts[1] == ParsedPart(headers: [:], body: Data("y".utf8)))
        #expect(parts[2].headers == ["content-disposition": "attachment"])
    }

    private func failure(of part: HTTPBody.Part) -> RequestError? {
        #expect(throws: RequestError.self) {
            try HTTPBody.multipart([part]).makeSource()
        }
    }

    @Test func nulInANameOrFileNameIsRefused() {
        let parts: [HTTPBody.Part] = [
            .text("a\0b", "x"), .data("a", Data(), filename: "a\0.png"),
            .init(name: nil, filename: "\0", body: .string("x")),
        ]
        for part in parts {
            let error = failure(of: part)
            #expect(error?.code == .invalidBody && error?.stage == .build)
            #expect(error?.message.contains("NUL") == true)
        }
    }

    @Test(arguments: ["a\r\nX-Injected: 1", "a\nb", "a\rb", "a\0b", "", "a b"])
    func headerNameThatIsNoTokenIsRefused(name: String) {
        let part = HTTPBody.Part(name: "a", body: .string("x"), headers: [.custom(name): "hush"])
        let error = failure(of: part)
        #expect(error?.code == .invalidBody && error?.stage == .build)
        #expect(error?.message.contains("is not a token") == true)
        #expect(error?.message.contains("hush") == false)
    }

    @Test func headersReplaceThoseOfTheBody() async throws {
        let part = HTTPBody.Part(
            name: "a", body: .string("x"),
            headers: [.custom("content-language"): "en", .contentType: "a/b", .custom("X-A"): "1"])
        let parts = try #require(
            parseMultipart(
                try await bytes(of: .multipart([part], boundary: "B")), boundary: "B"
            )
        )
        #expect(parts[0].headers["content-language"] == "en")
        #expect(parts[0].headers["content-type"] == "a/b")
        #expect(parts[0].headers["x-a"] == "1")
    }

    @Test func contentTypeCannotInjectHeaders() {
        let body = MultipartBody([.data("a", Data(), contentType: "text/x\r\nX-Injected: 1")])
        let error = #expect(throws: RequestError.self) {
            try HTTPBody(multipart: body, contentType: body.contentType).makeSource()
        }
        #expect(error?.code == .invalidBody)
    }
}
