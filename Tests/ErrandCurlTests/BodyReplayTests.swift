import Dispatch
import ErrandCore
import ErrandCurl
import ErrandTesting
import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing

/// Recreating a body's stream calls the user's code, which may block.
@Suite("Body replay", .limited)
struct BodyReplayTests {
    private struct Broken: Error {}

    /// The result of another request.
    private final class OtherRequest: Sendable {
        let text = Mutex("not started")
        private let done = DispatchSemaphore(value: 0)

        /// Sends a request and blocks the calling thread until it has ended.
        func run(_ url: String, over transport: CurlTransport) {
            Task.detached { [self] in
                let response = try? await transport.run(.get, url)
                text.withLock { $0 = response?.error == nil ? "complete" : "failed" }
                done.signal()
            }
            // If the loop's thread waits for itself, this times out and the test fails.
            if done.wait(timeout: .now() + 20) == .timedOut { text.withLock { $0 = "never" } }
        }
    }

    /// Responds to the first request, closes after the second one, and responds to all later ones.
    private func server() throws -> RawServer {
        let dropped = Mutex(false)
        return try RawServer { connection in
            while let head = connection.readHead() {
                let body = connection.readBody(of: head)
                let drops =
                    head.hasPrefix("PUT")
                    && dropped.withLock { dropped in
                        defer { dropped = true }
                        return !dropped
                    }
                if drops { return }
                connection.respond("\(body.count)")
            }
        }
    }

    private static func chunks() -> AsyncStream<Data> {
        AsyncStream { continuation in
            continuation.yield(Data("twelve bytes".utf8))
            continuation.finish()
        }
    }

    private func put(
        _ url: String, over transport: CurlTransport,
        beforeReplay: @escaping @Sendable () throws -> Void
    ) async throws -> RecordingReceiver.Record {
        // The closed connection is a kept one.
        _ = try await transport.run(.get, url)
        let times = Mutex(0)
        let body = HTTPBody.stream(length: 12) {
            let time = times.withLock { times in
                times += 1
                return times
            }
            if time > 1 { try beforeReplay() }
            return Self.chunks()
        }
        return try await transport.run(.put, url, body: body) { $0.options.mayReplay = true }
    }

    @Test func bodyFactoryMayWaitForAnotherRequest() async throws {
        let server = try server()
        let transport = CurlTransport()
        let url = server.url()
        let other = OtherRequest()
        let record = try await put(url, over: transport) {
            other.run(url, over: transport)
        }
        #expect(record.error == nil)
        #expect(String(decoding: record.body, as: UTF8.self) == "12")
        #expect(other.text.withLock { $0 } == "complete")
    }

    @Test func failingBodyFactoryIsReported() async throws {
        let server = try server()
        let record = try await put(server.url(), over: CurlTransport()) { throw Broken() }
        #expect(record.error?.code == .bodyReadFailed)
        #expect(record.error?.underlying is Broken)
    }
}
