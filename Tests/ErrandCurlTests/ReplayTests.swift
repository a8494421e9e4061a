import ErrandCore
import ErrandCurl
import ErrandTesting
import ErrandTransport
import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing

/// A request that the server may have read is not repeated automatically.
@Suite(.limited)
struct ReplayTests {
    /// Responds to the first request, then reads one more and closes without a response.
    private func closingServer(_ heads: Heads) throws -> RawServer {
        try RawServer { connection in
            while let head = connection.readHead() {
                heads.list.withLock { $0.append(String(head.prefix { $0 != " " })) }
                if connection.number == 1, heads.list.withLock({ $0.count }) == 2 { return }
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
            }
        }
    }

    final class Heads: Sendable {
        let list = Mutex<[String]>([])
    }

    @Test(arguments: ["GET", "POST", "PUT", "DELETE"], [nil, "body"])
    func withoutMayReplayNothingIsRepeated(method: String, body: String?) async throws {
        let heads = Heads()
        let server = try closingServer(heads)
        let transport = CurlTransport()
        let first = try await transport.run(.get, server.url())
        #expect(first.error == nil)
        let second = try await transport.run(
            HTTPMethod(method), server.url(), body: body.map { .string($0) })
        #expect(second.error?.code == .connectionLost)
        #expect(heads.list.withLock { $0 } == ["GET", method])
        // libcurl found the connection dead, and opens no new one for a request that may not be
        // repeated.
        #expect(server.connections == 1)
        let third = try await transport.run(.get, server.url())
        #expect(third.error == nil)
    }

    @Test(arguments: [nil, "body"])
    func withMayReplayRequestIsRepeated(body: String?) async throws {
        let heads = Heads()
        let server = try closingServer(heads)
        let transport = CurlTransport()
        _ = try await transport.run(.get, server.url())
        let second = try await transport.run(
            .put, server.url(), body: body.map { .string($0) }
        ) { $0.options.mayReplay = true }
        #expect(second.error == nil)
        #expect(heads.list.withLock { $0 } == ["GET", "PUT", "PUT"])
    }

    @Test func closedIdleConnectionIsNotReused() async throws {
        let hasResponded = Mutex(false)
        let server = try RawServer { connection in
            guard connection.readHead() != nil else { return }
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
            if connection.number == 1 { hasResponded.withLock { $0 = true } }
        }
        let transport = CurlTransport()
        for _ in 0..<20 {
            let record = try await transport.run(.post, server.url(), body: .string("x"))
            // A close that crosses the next request may be reported as an error, but must not cause
            // a replay.
            if let error = record.error { #expect(error.code == .connectionLost) }
        }
    }
}

/// Bodies checked against their announced length.
@Suite(.limited)
struct UploadTests {
    /// A source that returns a list of results, then the end.
    final class ListSource: BodySource {
        let length: Int64?
        let steps: Mutex<[BodyRead]>
        let closings = Mutex(0)

        init(length: Int64?, _ steps: [BodyRead]) {
            self.length = length
            self.steps = Mutex(steps)
        }

        func read(into buffer: UnsafeMutableRawBufferPointer) -> BodyRead {
            steps.withLock { steps in
                guard let step = steps.first else { return .end }
                if case .bytes(let count) = step {
                    let given = min(count, buffer.count)
                    for index in 0..<given { buffer[index] = 0x61 }
                    steps.removeFirst()
                    if given < count { steps.insert(.bytes(count - given), at: 0) }
                    return .bytes(given)
                }
                steps.removeFirst()
                return step
            }
        }

        func whenReadable(_ notify: @escaping @Sendable () -> Void) { notify() }
        func rewind() -> Bool { false }
        func close() { closings.withLock { $0 += 1 } }
    }

    private func drain(_ upload: inout Upload, room: Int = 4) -> (
        bytes: Int, waits: Int, end: String
    ) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: room, alignment: 1)
        defer { buffer.deallocate() }
        var bytes = 0
        var waits = 0
        for _ in 0..<100 {
            switch upload.fill(buffer) {
            case .bytes(let count): bytes += count
            case .end: return (bytes, waits, "end")
            case .wait: waits += 1
            case .failed(let error): return (bytes, waits, error.code.description)
            }
        }
        return (bytes, waits, "endless")
    }

    @Test func exactLength() {
        var upload = Upload(ListSource(length: 6, [.bytes(6), .end]))
        #expect(drain(&upload) == (6, 0, "end"))
        #expect(upload.bytesSent == 6)
    }

    @Test func tooShort() {
        var upload = Upload(ListSource(length: 7, [.bytes(6), .end]))
        #expect(drain(&upload) == (6, 0, "bodyReadFailed"))
    }

    @Test func tooLongFailsBeforeLastBytesAreSent() {
        var upload = Upload(ListSource(length: 5, [.bytes(6), .end]))
        #expect(drain(&upload) == (4, 0, "bodyReadFailed"))
    }

    @Test func lastBytesWaitForSourceEnd() {
        var upload = Upload(ListSource(length: 6, [.wait, .bytes(6), .wait, .wait, .end]))
        #expect(drain(&upload) == (6, 3, "end"))
        var surplus = Upload(ListSource(length: 6, [.bytes(6), .wait, .wait, .bytes(1)]))
        #expect(drain(&surplus) == (4, 2, "bodyReadFailed"))
    }

    @Test func unknownLength() {
        var upload = Upload(ListSource(length: nil, [.bytes(9), .wait, .bytes(2), .end]))
        #expect(drain(&upload) == (11, 1, "end"))
    }

    @Test func sourceErrorIsReported() {
        let error = RequestError(.bodyReadFailed, stage: .transport, "gone")
        var upload = Upload(ListSource(length: 9, [.bytes(2), .failed(error)]))
        #expect(drain(&upload) == (2, 0, "bodyReadFailed"))
    }

    @Test func shortStreamFailsTransfer() async throws {
        let server = try PlainRequestTests.echo()
        let body = HTTPBody.stream(length: 10) {
            AsyncStream<Data> { continuation in
                continuation.yield(Data("short".utf8))
                continuation.finish()
            }
        }
        let record = try await CurlTransport().run(.post, server.url(), body: body)
        #expect(record.error?.code == .bodyReadFailed || record.error?.code == .invalidBody)
    }

    @Test func missingFileFailsBeforeAnythingIsSent() async throws {
        let server = try PlainRequestTests.echo()
        let body = HTTPBody.file(URL(fileURLWithPath: "/does/not/exist"))
        let record = try await CurlTransport().run(.post, server.url(), body: body)
        #expect(record.error?.code == .invalidBody)
        #expect(server.connections == 0)
    }

    @Test func earlyRefusalIsResponse() async throws {
        let server = try RawServer { connection in
            _ = connection.readHead()
            connection.write(
                "HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno")
            connection.waitForClose()
        }
        let data = Data(repeating: 1, count: 5_000_000)
        let record = try await CurlTransport().run(.post, server.url(), body: .data(data))
        #expect(record.error == nil)
        #expect(record.head?.status.code == 413)
        #expect(record.body == Data("no".utf8))
    }

    @Test func largeFileArrivesCompletely() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: file) }
        let data = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        try data.write(to: file)
        let server = try PlainRequestTests.echo()
        let record = try await CurlTransport().run(.put, server.url(), body: .file(file))
        #expect(record.error == nil)
        #expect(record.body.suffix(data.count) == data)
        #expect(record.sent == Int64(data.count))
        #expect(record.violations.isEmpty)
    }
}
