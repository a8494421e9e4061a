import Dispatch
import ErrandCore
import ErrandCurl
import Foundation
import HTTPTypes
import Synchronization
import Testing

/// What makes a body's stream is the user's, and may take its time: also when it is made again.
@Suite("Bodies made again", .timeLimit(.minutes(2))) struct RewindTests {
    private struct Broken: Error {}

    /// What has become of another request.
    private final class Note: Sendable {
        let text = Mutex("not asked")
        private let done = DispatchSemaphore(value: 0)

        /// Blocks the calling thread until it has ended.
        func ask(_ url: String, over transport: CurlTransport) {
            Task.detached { [self] in
                let answer = try? await transport.run(.get, url)
                text.withLock { $0 = answer?.error == nil ? "whole" : "failed" }
                done.signal()
            }
            // A thread that waits for itself gives up here, and the test has failed.
            if done.wait(timeout: .now() + 20) == .timedOut { text.withLock { $0 = "never" } }
        }
    }

    /// Answers a first request, drops the second after its body, and then answers all.
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
                connection.answer("\(body.count)")
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
        again: @escaping @Sendable () throws -> Void
    ) async throws -> Recorder.Record {
        // The connection that is dropped is a kept one.
        _ = try await transport.run(.get, url)
        let times = Mutex(0)
        let body = HTTPBody.stream(length: 12) {
            let time = times.withLock { times in
                times += 1
                return times
            }
            if time > 1 { try again() }
            return Self.chunks()
        }
        return try await transport.run(.put, url, body: body) { $0.options.mayReplay = true }
    }

    @Test func theMakerMayWaitForAnotherRequest() async throws {
        let server = try server()
        let transport = CurlTransport()
        let url = server.url()
        let other = Note()
        let record = try await put(url, over: transport) {
            other.ask(url, over: transport)
        }
        #expect(record.error == nil)
        #expect(String(decoding: record.body, as: UTF8.self) == "12")
        #expect(other.text.withLock { $0 } == "whole")
    }

    @Test func whatCannotBeMadeAgainIsTold() async throws {
        let server = try server()
        let record = try await put(server.url(), over: CurlTransport()) { throw Broken() }
        #expect(record.error?.code == .bodyReadFailed)
        #expect(record.error?.underlying is Broken)
    }
}
