import Errand
import ErrandTransport
import Foundation
import TestSupport
import Testing

@testable import ErrandCore

/// Extended file names, and multipart bodies that are written to a file.
@Suite(.limited)
struct MultipartFileTests {
    @Test func extendedFilenamesAreSentOnRequest() async throws {
        var part = HTTPBody.Part.data("f", Data("x".utf8), filename: "naïve 日\"*.txt")
        func head() async throws -> String {
            let body = HTTPBody.multipart([part], boundary: "B")
            let text = String(decoding: try await body.bytes(), as: UTF8.self)
            return try #require(text.components(separatedBy: "\r\n").dropFirst().first)
        }
        let plain = "Content-Disposition: form-data; name=\"f\"; filename=\"naïve 日%22*.txt\""
        #expect(try await head() == plain)
        part.sendsExtendedFilename = true
        #expect(
            try await head() == plain + "; filename*=UTF-8''na%C3%AFve%20%E6%97%A5%22%2A.txt")
        part.filename = "plain.txt"
        #expect(try await head().hasSuffix("filename=\"plain.txt\""))
    }

    @Test func bodyIsWrittenToAFileAndSentFromIt() async throws {
        let target = try TemporaryFile(Data("old".utf8), name: "body")
        let body = HTTPBody.multipart([
            .text("a", "1"),
            .stream("s", filename: "s.bin") {
                AsyncStream<Data> { chunks in
                    for _ in 0..<50 { chunks.yield(Data(repeating: 7, count: 5000)) }
                    chunks.finish()
                }
            },
        ])
        let expected = try await body.bytes()
        let file = try await body.write(to: target.url)
        #expect(file.contentType == body.contentType)
        #expect(try Data(contentsOf: target.url) == expected)
        #expect(try file.makeSource().length == Int64(expected.count))
        let folder = target.url.deletingLastPathComponent()
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["body"])
    }

    @Test func failedWriteKeepsTheExistingFile() async throws {
        let target = try TemporaryFile(Data("old".utf8), name: "body")
        let missing = HTTPBody.multipart([.file("f", URL(fileURLWithPath: "/no/such/file"))])
        var error = await #expect(throws: RequestError.self) {
            try await missing.write(to: target.url)
        }
        #expect(error?.code == .invalidBody)
        #expect(try Data(contentsOf: target.url) == Data("old".utf8))
        error = await #expect(throws: RequestError.self) {
            try await HTTPBody.multipart([]).write(to: URL(fileURLWithPath: "/no/such/folder/body"))
        }
        #expect(error?.code == .fileFailed)
    }

    @Test func collectedBytesAreLimited() async throws {
        let body = HTTPBody.data(Data(count: 100))
        #expect(try await body.bytes(limit: 100).count == 100)
        let error = await #expect(throws: RequestError.self) { try await body.bytes(limit: 99) }
        #expect(error?.code == .bodyTooLarge)
    }
}
