#if os(Linux)
    import ErrandCurl
    import ErrandHTTP
    import ErrandTesting
    import Foundation
    import HTTPTypes
    import TestSupport
    import Testing

    /// The command of a request, run by a shell and the installed curl, sends the request that the transport sends.
    @Suite(.limited) struct CurlCommandRunTests {
        private let server = LoopbackServer()
        private let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("errand-curl-\(UUID().uuidString)")

        /// The bytes that the command reads from files in the working directory.
        private static let binary = Data([0, 0xFF, 0x0A, 0x27])

        private static func requests(_ folder: URL) throws -> [(HTTPMethod, HTTPFields, HTTPBody?)]
        {
            let agent: HTTPFields = [.accept: "*/*", .userAgent: "T"]
            let file = folder.appendingPathComponent("a \"b\",;'c.txt")
            let binary = Self.binary
            let form = HTTPBody.multipart([
                .text("title", "  @a; \"q\" \\ é 'x'\n"), .text("", "empty name"),
                .text("a=\"b\";c", "<x"), .json("json", ["a": 1]),
                .data("raw", binary), .data("note", Data("x".utf8), filename: "ü;n.txt"),
                .file("photo", file),
                .file("other", file, filename: "o.bin", contentType: "x/y; z=1"),
                .init(name: "own", body: .string("v"), headers: [.via: "a;b\\"]),
            ])
            return [
                (.get, [:], nil), (.get, agent, nil), (.head, agent, nil), (.post, [:], nil),
                (.delete, agent, nil), (.get, [.range: "bytes=0-1", .via: ""], nil),
                (.post, [:], .string("a'b", contentType: nil)),
                (.post, agent, .string("a=b&c", contentType: "application/x-www-form-urlencoded")),
                (.put, [.contentType: "application/json"], .string("{\"a\":1}\n\n")),
                (.post, [:], .data(Data(), contentType: nil)), (.patch, [:], .data(Data())),
                (.post, [:], .data(binary)), (.post, [:], .json(["a": 1])),
                (.post, [:], .string(String(repeating: "a", count: 2000))),
                (.post, [:], .file(file)), (.post, [:], .file(file, contentType: nil)),
                (.post, [:], .stream(length: 4) { Chunks(bytes: binary) }),
                (.post, [:], .stream { Chunks(bytes: binary) }),
                (.post, [:], form),
                (.put, [:], .multipart([.text("a", "b")])),
            ]
        }

        private struct Chunks: AsyncSequence, Sendable {
            var bytes: Data
            func makeAsyncIterator() -> AsyncStream<Data>.Iterator {
                AsyncStream {
                    $0.yield(bytes); $0.finish()
                }.makeAsyncIterator()
            }
        }

        /// The request without what differs: the codings of this curl, and the boundary.
        private func comparable(_ request: LoopbackRequest) -> [String] {
            let boundary = request.header("Content-Type")?.components(separatedBy: "boundary=")
                .dropFirst().first
            func masked(_ text: String) -> String {
                boundary.map { text.replacingOccurrences(of: $0, with: "BOUNDARY") } ?? text
            }
            let isForm = boundary != nil
            let headers = request.headers.filter { header in
                let name = header.name.lowercased()
                return name != "accept-encoding" && !(isForm && name == "content-length")
            }
            .map { masked("\($0.name.lowercased()): \($0.value)") }.sorted()
            // The header lines of parts are in another order.
            let body = masked(String(decoding: request.body, as: UTF8.self))
            let parts = isForm ? body.components(separatedBy: "--BOUNDARY").map(sortedHead) : [body]
            return ["\(request.method) \(request.target)"] + headers + parts
        }

        private func sortedHead(_ part: String) -> String {
            let pieces = part.components(separatedBy: "\r\n\r\n")
            return (pieces[0].components(separatedBy: "\r\n").sorted() + pieces.dropFirst())
                .joined(separator: "\n")
        }

        @Test func curlSendsTheSameRequest() async throws {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            for name in ["body.bin", "part-5.bin"] {
                try Self.binary.write(to: folder.appendingPathComponent(name))
            }
            try Data("file".utf8).write(to: folder.appendingPathComponent("a \"b\",;'c.txt"))
            server.otherwise { _ in LoopbackResponse(headers: ["Connection": "close"], body: "") }
            try await server.start()
            let transport = CurlTransport()
            for (method, headers, body) in try Self.requests(folder) {
                let url = server.url("/a/../b/.?x=%5B1%5D&y='z'")
                let record = try await transport.run(method, url, headers: headers, body: body)
                #expect(record.violations.isEmpty)
                let sent = try await server.nextRequest()
                let request = TransportRequest(
                    method: method, url: try HTTPURL.test(url), headers: headers, body: body)
                let command = request.curlCommand(redactsSecrets: false)
                try run(command)
                let received = try await server.nextRequest()
                #expect(comparable(received) == comparable(sent), "\(command)")
            }
            await server.stop()
        }

        private func run(_ command: String) throws {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
            process.arguments = [
                "-c",
                "cd \"$1\" && curl() { command curl -q -s --noproxy '*' \"$@\"; }; " + command,
                "sh", folder.path,
            ]
            process.standardOutput = FileHandle.nullDevice
            try process.run()
            process.waitUntilExit()
            #expect(process.terminationStatus == 0, "\(command)")
        }
    }
#endif
