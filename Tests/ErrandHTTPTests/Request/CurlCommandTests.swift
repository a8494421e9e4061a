import Foundation
import HTTPTypes
import Testing

@testable import ErrandHTTP

/// Requests as `curl` command lines.
struct CurlCommandTests {
    private func request(
        _ method: HTTPMethod = .get, _ url: String = "https://h/a?x=1&token=abc",
        headers: HTTPFields = [:],
        body: HTTPBody? = nil
    ) throws -> TransportRequest {
        TransportRequest(
            method: method, url: try HTTPURL(parsing: url), headers: headers, body: body)
    }

    @Test func secretsAreRedactedByDefault() throws {
        let command = try request(
            .post,
            headers: [.authorization: "Bearer s3cret", .accept: "*/*", .cookie: "sid=s3cret"],
            body: .string("password=s3cret")
        ).curlCommand()
        #expect(!command.contains("s3cret") && !command.contains("abc"))
        #expect(
            command == "curl --request POST --url 'https://h/a?x=1&token=<redacted>' "
                + "--header 'Authorization: <redacted>' --header 'Accept: */*' "
                + "--header 'Cookie: <redacted>' --header 'Content-Type: text/plain; charset=utf-8' "
                + "--header User-Agent: --compressed --data-raw '<body of 15 bytes>'")
    }

    @Test func secretsAreIncludedOnRequest() throws {
        let command = try request(
            .put, headers: [.authorization: "Bearer x", .via: ""],
            body: .string("it's\n$HOME \"quoted\"")
        ).curlCommand(redactsSecrets: false)
        #expect(
            command == "curl --request PUT --url 'https://h/a?x=1&token=abc' "
                + "--header 'Authorization: Bearer x' --header 'Via;' "
                + "--header 'Content-Type: text/plain; charset=utf-8' "
                + "--header Accept: --header User-Agent: --compressed "
                + "--data-raw 'it'\\''s\n$HOME \"quoted\"'")
    }

    /// The command without the options that remove headers of curl.
    private func command(
        _ method: HTTPMethod, _ url: String = "http://h/", body: HTTPBody? = nil,
        redactsSecrets: Bool = false
    ) throws -> String {
        let headers: HTTPFields = [.accept: "*/*", .userAgent: "T"]
        return try request(method, url, headers: headers, body: body)
            .curlCommand(redactsSecrets: redactsSecrets)
            .replacingOccurrences(of: " --header 'Accept: */*' --header 'User-Agent: T'", with: "")
            .replacingOccurrences(of: " --header Expect:", with: "")
    }

    @Test func methodsAndBodiesBecomeOptions() throws {
        #expect(try command(.get) == "curl --url http://h/ --compressed")
        #expect(try command(.head) == "curl --head --url http://h/ --compressed")
        #expect(
            try command(.post)
                == "curl --request POST --url http://h/ --header 'Content-Length: 0' --compressed")
        #expect(
            try command(.post, body: .file(URL(fileURLWithPath: "/tmp/a b"), contentType: nil))
                == "curl --request POST --url http://h/ --header Content-Type: --compressed "
                + "--data-binary '@/tmp/a b'")
        #expect(
            try command(.post, body: .data(Data([0xFF]), contentType: "a/b"))
                == "curl --request POST --url http://h/ --header 'Content-Type: a/b' --compressed "
                + "--data-binary @body.bin # body.bin: the 1 bytes of the body")
        #expect(
            try command(.get, body: .multipart(MultipartBody(boundary: "x")))
                == "curl --request GET --url http://h/ "
                + "--header 'Content-Type: multipart/form-data; boundary=x' --compressed "
                + "--data-binary @body.bin # body.bin: the bytes of the body")
        #expect(
            try command(.get, "http://[::1]/a/../b")
                == "curl --url 'http://[::1]/a/../b' --globoff --path-as-is --compressed")
    }

    @Test func partsBecomeForms() throws {
        let body = HTTPBody.multipart(
            MultipartBody([
                .text("title", "a \"b\""),
                .file("photo", URL(fileURLWithPath: "/tmp/a.png"), contentType: "image/png"),
                .data("raw", Data([0xFF])),
                .data("note", Data("x".utf8), filename: "n.txt", contentType: "text/plain"),
            ]))
        #expect(
            try command(.post, body: body)
                == "curl --request POST --url http://h/ --compressed "
                + #"--form 'title="a \"b\""' "#
                + #"--form 'photo=@"/tmp/a.png";filename="a.png";type=image/png' "#
                + #"--form 'part3=<part-3.bin;headers="Content-Disposition: form-data; name=\"raw\""' "#
                + #"--form 'part4="x";headers="Content-Disposition: form-data; name=\"note\"; filename=\"n.txt\"""#
                + #";headers="Content-Type: text/plain"' # part-3.bin: the 1 bytes of part 3"#)
        let redacted = try command(.post, body: body, redactsSecrets: true)
        #expect(redacted.contains(#"--form 'title="<5 bytes>"'"#))
        #expect(!redacted.contains("a \\\"b") && !redacted.contains("part-3.bin"))
    }

    @Test func textThatATerminalWouldInterpretIsNotInTheCommand() throws {
        for text in [
            "\u{15}id", "a\u{1B}[201~b", "a\rb", "a\0", "a\u{9B}b",
            String(repeating: "a", count: 70_000),
        ] {
            #expect(try command(.post, body: .string(text)).contains("--data-binary @body.bin"))
            let form = HTTPBody.multipart(MultipartBody([.text("a", text)]))
            #expect(try command(.post, body: form).contains("part-1.bin"))
        }
        #expect(try command(.post, body: .string("a\n\tb")).hasSuffix("'a\n\tb'"))
        let named = HTTPBody.multipart(
            MultipartBody([.data("a", Data(), filename: "\u{15}", contentType: "a/b")]))
        #expect(try command(.post, body: named).contains("--data-binary @body.bin"))
    }

    // MARK: - Quoting

    /// The arguments of each command, as `/bin/sh` passes them to a program.
    private func arguments(of commands: [String]) async throws -> [[String]] {
        let script = URL(fileURLWithPath: NSTemporaryDirectory())
            .appendingPathComponent("errand-\(UUID().uuidString).sh")
        defer { try? FileManager.default.removeItem(at: script) }
        let lines = ["curl() { printf '%s\\0' \"$@\"; printf '\\001\\0'; }"] + commands
        try Data(lines.joined(separator: "\n").utf8).write(to: script)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = [script.path]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let bytes = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        var all: [[String]] = []
        var words: [String] = []
        for word in bytes.split(separator: 0, omittingEmptySubsequences: false).dropLast() {
            if word.elementsEqual([1]) {
                all.append(words)
                words = []
            } else {
                words.append(String(decoding: word, as: UTF8.self))
            }
        }
        return all
    }

    /// Texts with each printable ASCII character before a scalar that joins it to one Swift character.
    private static let texts = (0x20...0x7E).flatMap { (byte: UInt8) in
        ["", "\u{301}", "\u{200D}", "\u{FE0F}", "\u{20E3}", "\u{E0061}"].map { mark in
            "a\(Character(Unicode.Scalar(byte)))\(mark); touch x; '"
        }
    }

    @Test func shellReadsEveryArgumentAsWritten() async throws {
        var commands: [String] = []
        for text in Self.texts {
            commands.append(
                try request(
                    .post, "http://h/", headers: [.ifNoneMatch: text],
                    body: .string(text, contentType: text)
                ).curlCommand(redactsSecrets: false))
            commands.append(
                try request(
                    .post, body: .multipart(MultipartBody([.text(text, text)]))
                ).curlCommand(redactsSecrets: false))
        }
        let read = try await arguments(of: commands)
        try #require(read.count == commands.count)
        for (index, text) in Self.texts.enumerated() {
            let words = read[2 * index]
            #expect(
                words.contains("If-None-Match: \(text)") && words.contains("Content-Type: \(text)"))
            #expect(words.suffix(2) == ["--data-raw", text])
            let form = try #require(read[2 * index + 1].last)
            let escaped = text.unicodeScalars.map { $0 == "\\" || $0 == "\"" ? "\\\($0)" : "\($0)" }
                .joined()
            #expect(
                form.utf8.starts(with: "part1=\"\(escaped)\";headers=\"Content-Disposition".utf8),
                "\(form)")
        }
    }

    @Test func methodsTrailersAndPathsAreQuoted() async throws {
        let body = HTTPBody.file(URL(fileURLWithPath: "/tmp/a'\u{301}; id"))
            .trailers(["X-'`id`", "X-Sum"]) { [:] }
        let command = try request(HTTPMethod("A'`id`"), body: body).curlCommand()
        let words = try await arguments(of: [command])
        #expect(words.first?.contains("A'`id`") == true)
        #expect(words.first?.last?.utf8.elementsEqual("@/tmp/a'\u{301}; id".utf8) == true)
        #expect(command.hasSuffix(" # without the trailers: 'X-'\\''`id`', X-Sum"))
    }
}
