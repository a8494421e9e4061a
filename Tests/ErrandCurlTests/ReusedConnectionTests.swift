import ErrandCore
import ErrandCurl
import ErrandTesting
import ErrandTransport
import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing

/// Connections that the server closes when the next request arrives (RFC 9110 §9.2.2, RFC 9112
/// §9.3.1).
///
/// An idempotent request is repeated on another connection; every other request fails.
@Suite(.limited)
struct ReusedConnectionTests {
    /// The way in which the server closes the connection.
    enum Loss: String, CaseIterable, Sendable, CustomTestStringConvertible {
        /// Reads the request and closes.
        case readsAndCloses
        /// Reads the request and resets.
        case readsAndResets
        /// Closes without reading, so that the client sees a reset.
        case closesUnread

        var testDescription: String { rawValue }
    }

    /// The requests that the server has read, and the number of connections that it has closed.
    struct Seen: Sendable {
        /// Method, body and connection number of each complete request.
        var requests: [(connection: Int, method: String, body: [UInt8])] = []
        var lost = 0
    }

    /// Blocks each connection until all have a request, so that each request uses its own
    /// connection.
    final class Arrivals: Sendable {
        private let missing: DispatchGroup
        init(_ count: Int) {
            missing = DispatchGroup()
            for _ in 0..<count { missing.enter() }
        }
        func waitForAll() {
            missing.leave()
            missing.wait()
        }
    }

    private let transport = CurlTransport()
    private let seen = Observations()

    final class Observations: Sendable {
        let state = Mutex(Seen())
    }

    /// Responds to one request on each of the first connections, and closes each of them at the
    /// next request.
    private func server(_ loss: Loss, lossCount: Int = 1) throws -> RawServer {
        let seen = seen
        let arrivals = Arrivals(lossCount)
        return try RawServer { connection in
            while true {
                // The number is 0 if the server was already released.
                let losesConnection = (1...lossCount).contains(connection.number)
                let isLost = losesConnection && connection.responseCount == 1
                if isLost, loss == .closesUnread {
                    guard connection.waitForBytes() else { return }
                    seen.state.withLock { $0.lost += 1 }
                    return
                }
                guard let head = connection.readHead() else { return }
                let body = connection.readBody(of: head)
                seen.state.withLock { seen in
                    let method = String(head.prefix { $0 != " " })
                    seen.requests.append((connection.number, method, body))
                    if isLost { seen.lost += 1 }
                }
                if isLost { return loss == .readsAndResets ? connection.reset() : () }
                if losesConnection, connection.responseCount == 0 { arrivals.waitForAll() }
                connection.respond("hi")
            }
        }
    }

    /// Sends a request on a connection that has carried one before.
    private func second(
        _ method: HTTPMethod, _ server: RawServer, body: HTTPBody? = nil
    ) async throws -> RecordingReceiver.Record {
        let first = try await transport.run(.get, server.url())
        #expect(first.error == nil)
        return try await transport.run(method, server.url(), body: body) {
            $0.options.mayReplay = method.isIdempotent
        }
    }

    private func count(_ method: HTTPMethod, body: Data = Data()) -> Int {
        seen.state.withLock { seen in
            seen.requests.filter { $0.method == method.rawValue && Data($0.body) == body }.count
        }
    }

    @Test(arguments: Loss.allCases, [HTTPMethod.get, .head, .put, .delete, .options])
    func idempotentRequestIsReplayed(loss: Loss, method: HTTPMethod) async throws {
        let server = try server(loss)
        let record = try await second(method, server)
        #expect(record.error == nil)
        #expect(record.head?.status.code == 200)
        #expect(record.ends == 1)
        #expect(record.violations.isEmpty)
        #expect(seen.state.withLock { $0.lost } == 1)
        #expect(server.connections == 2)
    }

    /// A request processor may have changed GET to POST after the agent allowed a replay.
    @Test(arguments: [Loss.readsAndCloses, .readsAndResets])
    func nonIdempotentMethodOverridesMayReplay(loss: Loss) async throws {
        let server = try server(loss)
        #expect(try await transport.run(.get, server.url()).error == nil)
        let record = try await transport.run(.post, server.url(), body: .string("once")) {
            $0.options.mayReplay = true
        }
        #expect(record.error?.code == .connectionLost)
        #expect(count(.post, body: Data("once".utf8)) == 1)
    }

    @Test(arguments: Loss.allCases, [1, 5000, 400_000])
    func replaySendsWholeBody(loss: Loss, size: Int) async throws {
        let server = try server(loss)
        let body = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        let record = try await second(.put, server, body: .data(body))
        #expect(record.error == nil)
        #expect(count(.put, body: body) == (loss == .closesUnread ? 1 : 2))
        #expect(record.violations.isEmpty)
        #expect(record.sent == Int64(size))
    }

    @Test(arguments: Loss.allCases)
    func getWithBodyIsReplayed(loss: Loss) async throws {
        let record = try await second(.get, try server(loss), body: .string("query"))
        #expect(record.error == nil)
        #expect(count(.get, body: Data("query".utf8)) == (loss == .closesUnread ? 1 : 2))
    }

    @Test(arguments: Loss.allCases)
    func nonReplayableBodyIsNotReplayed(loss: Loss) async throws {
        let server = try server(loss)
        let body = HTTPBody.stream(length: 5, isReplayable: false) { Self.hello }
        let record = try await second(.put, server, body: body)
        if record.error == nil {
            // No byte of the body had been read.
            #expect(count(.put, body: Data("hello".utf8)) == 1)
        } else {
            #expect(record.error?.code == .connectionLost)
        }
        let bodies = seen.state.withLock { $0.requests.filter { $0.method == "PUT" }.map(\.body) }
        #expect(bodies.allSatisfy { $0 == Array("hello".utf8) })
    }

    /// The body factory fails only after the second request has started, so that request ends
    /// without its body.
    @Test(arguments: Loss.allCases)
    func failingBodyFactoryFailsReplay(loss: Loss) async throws {
        let server = try server(loss)
        let isMade = Mutex(false)
        let body = HTTPBody.stream(length: 5) {
            guard !isMade.withLock({ exchange(&$0, with: true) }) else { throw Missing() }
            return Self.hello
        }
        let record = try await second(.put, server, body: body)
        if record.error != nil {
            #expect(record.error?.code == .bodyReadFailed)
            #expect(record.error?.underlying is Missing)
        }
        // At most the first request arrived completely.
        #expect(
            count(.put, body: Data("hello".utf8))
                <= (record.error == nil ? 1 : loss == .closesUnread ? 0 : 1))
    }

    private static var hello: AsyncStream<Data> {
        AsyncStream { continuation in
            continuation.yield(Data("hello".utf8))
            continuation.finish()
        }
    }

    @Test(arguments: Loss.allCases, [nil, 4, 4_000_000])
    func nonIdempotentRequestIsNotReplayed(loss: Loss, size: Int?) async throws {
        let method = HTTPMethod.post
        let server = try server(loss)
        let body = size.map { HTTPBody.data(Data(repeating: 1, count: $0)) }
        let record = try await second(method, server, body: body)
        #expect(record.error?.code == .connectionLost)
        #expect(record.ends == 1)
        #expect(
            seen.state.withLock { $0.requests.filter { $0.method == method.rawValue }.count }
                == (loss == .closesUnread ? 0 : 1))
        let next = try await transport.run(method, server.url(), body: body)
        #expect(next.error == nil)
    }

    /// libcurl tries one dead connection after another, and alone gives up after five.
    ///
    /// The transport's own engine sends the request again on a new connection.
    @Test(arguments: Loss.allCases)
    func replaySurvivesManyLostConnections(loss: Loss) async throws {
        let count = 12
        let server = try server(loss, lossCount: count)
        let request = TransportRequest(method: .get, url: try .test(server.url()))
        let recorders = (0..<count).map { _ in RecordingReceiver() }
        for recorder in recorders { _ = transport.start(request, receiver: recorder) }
        for recorder in recorders { #expect(try await recorder.ended().error == nil) }
        #expect(server.connections == count)
        let record = try await transport.run(.get, server.url()) { $0.options.mayReplay = true }
        #expect(record.error == nil)
        #expect(record.ends == 1)
        let lost = seen.state.withLock { $0.lost }
        #expect(lost == 1)
        #expect(server.connections == count + 1)
    }

    /// A reset while the body is sent.
    @Test(arguments: [HTTPMethod.put, .post])
    func resetDuringUpload(method: HTTPMethod) async throws {
        let seen = seen
        let server = try RawServer { connection in
            while let head = connection.readHead() {
                if connection.number == 1, connection.responseCount == 1 {
                    _ = connection.readBody(1000)
                    return connection.reset()
                }
                let name = String(head.prefix { $0 != " " })
                let body = connection.readBody(of: head)
                seen.state.withLock { $0.requests.append((connection.number, name, body)) }
                connection.respond("hi")
            }
        }
        let body = Data(repeating: 7, count: 8_000_000)
        let record = try await second(method, server, body: .data(body))
        #expect(record.ends == 1)
        if method == .put {
            #expect(record.error == nil)
            #expect(count(method, body: body) == 1)
        } else {
            #expect(record.error?.code == .connectionLost)
            #expect(seen.state.withLock { $0.requests.count } == 1)
        }
    }

    @Test func lostNewConnectionIsNotReplayed() async throws {
        let server = try RawServer { connection in
            _ = connection.readHead()
            if connection.number > 1 { connection.respond("hi") }
        }
        let record = try await transport.run(.get, server.url()) { $0.options.mayReplay = true }
        #expect(record.error?.code == .connectionLost)
        #expect(server.connections == 1)
    }

    @Test(arguments: ["HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 200 OK\r\nA: b"])
    func partialResponseIsNotReplayed(beginning: String) async throws {
        let server = try RawServer { connection in
            while connection.readHead() != nil {
                guard connection.responseCount == 1 else {
                    connection.respond("hi")
                    continue
                }
                connection.write(beginning)
                return
            }
        }
        let record = try await second(.get, server)
        #expect(record.error?.code == .connectionLost)
        #expect(server.connections == 1)
    }
}
