import ErrandCore
import ErrandCurl
import Foundation
import HTTPTypes
import Synchronization
import Testing

/// A kept connection that the server gives up as the next request comes (RFC 9110 §9.2.2, RFC 9112 §9.3.1): what
/// may be sent twice is sent again on another connection, everything else fails and is not.
@Suite(.timeLimit(.minutes(5)))
struct ReusedConnectionTests {
    /// How the server gives the connection up.
    enum Death: String, CaseIterable, Sendable, CustomTestStringConvertible {
        /// Reads the request and closes.
        case readsAndCloses
        /// Reads the request and resets.
        case readsAndResets
        /// Closes without reading, so that the client sees a reset.
        case closesUnread

        var testDescription: String { rawValue }
    }

    /// What the server has seen behind the first request of each connection that died, and on those that live.
    struct Seen: Sendable {
        /// Method and body of each whole request, with the number of its connection.
        var requests: [(connection: Int, method: String, body: [UInt8])] = []
        var died = 0
    }

    /// Lets nobody go before all are there, so that each has a connection of its own.
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
    private let seen = Watch()

    final class Watch: Sendable {
        let state = Mutex(Seen())
    }

    /// Answers one request on each of the first `mortals` connections and gives each up at the next one.
    private func server(_ death: Death, mortals: Int = 1) throws -> RawServer {
        let seen = seen
        let arrivals = Arrivals(mortals)
        return try RawServer { connection in
            while true {
                // The number is 0 when the server is gone already.
                let isMortal = (1...mortals).contains(connection.number)
                let dies = isMortal && connection.answered == 1
                if dies, death == .closesUnread {
                    guard connection.waitForBytes() else { return }
                    seen.state.withLock { $0.died += 1 }
                    return
                }
                guard let head = connection.readHead() else { return }
                let body = connection.readBody(of: head)
                seen.state.withLock { seen in
                    let method = String(head.prefix { $0 != " " })
                    seen.requests.append((connection.number, method, body))
                    if dies { seen.died += 1 }
                }
                if dies { return death == .readsAndResets ? connection.reset() : () }
                if isMortal, connection.answered == 0 { arrivals.waitForAll() }
                connection.answer("hi")
            }
        }
    }

    /// Sends a request over a connection that served one before.
    private func second(
        _ method: HTTPMethod, _ server: RawServer, body: HTTPBody? = nil
    ) async throws -> Recorder.Record {
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

    @Test(arguments: Death.allCases, [HTTPMethod.get, .head, .put, .delete, .options])
    func whatMayBeSentTwiceIs(death: Death, method: HTTPMethod) async throws {
        let server = try server(death)
        let record = try await second(method, server)
        #expect(record.error == nil)
        #expect(record.head?.status.code == 200)
        #expect(record.ends.count == 1)
        #expect(record.violations.isEmpty)
        #expect(seen.state.withLock { $0.died } == 1)
        #expect(server.connections == 2)
    }

    /// A processor may have made a POST of what was a GET when the agent said that it may be sent twice.
    @Test(arguments: [Death.readsAndCloses, .readsAndResets])
    func theMethodHasTheLastWord(death: Death) async throws {
        let server = try server(death)
        #expect(try await transport.run(.get, server.url()).error == nil)
        let record = try await transport.run(.post, server.url(), body: .string("once")) {
            $0.options.mayReplay = true
        }
        #expect(record.error?.code == .connectionLost)
        #expect(count(.post, body: Data("once".utf8)) == 1)
    }

    @Test(arguments: Death.allCases, [1, 5000, 400_000])
    func withItsWholeBody(death: Death, size: Int) async throws {
        let server = try server(death)
        let body = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        let record = try await second(.put, server, body: .data(body))
        #expect(record.error == nil)
        #expect(count(.put, body: body) == (death == .closesUnread ? 1 : 2))
        #expect(record.sent == record.sent.sorted())
        #expect(record.sent.last == Int64(size))
    }

    @Test(arguments: Death.allCases)
    func aGetWithABodyToo(death: Death) async throws {
        let record = try await second(.get, try server(death), body: .string("query"))
        #expect(record.error == nil)
        #expect(count(.get, body: Data("query".utf8)) == (death == .closesUnread ? 1 : 2))
    }

    @Test(arguments: Death.allCases)
    func aBodyThatCanBeReadOnceIsNot(death: Death) async throws {
        let server = try server(death)
        let body = HTTPBody.stream(length: 5, isReplayable: false) { Self.hello }
        let record = try await second(.put, server, body: body)
        if record.error == nil {
            // Nothing of it had been read.
            #expect(count(.put, body: Data("hello".utf8)) == 1)
        } else {
            #expect(record.error?.code == .connectionLost)
        }
        let bodies = seen.state.withLock { $0.requests.filter { $0.method == "PUT" }.map(\.body) }
        #expect(bodies.allSatisfy { $0 == Array("hello".utf8) })
    }

    /// That a sequence cannot be made again is known once the second request has begun: it ends without its body.
    @Test(arguments: Death.allCases)
    func aBodyThatCannotBeMadeAgainFailsTheSecond(death: Death) async throws {
        let server = try server(death)
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
        // At most the first one came whole.
        #expect(
            count(.put, body: Data("hello".utf8))
                <= (record.error == nil ? 1 : death == .closesUnread ? 0 : 1))
    }

    private static var hello: AsyncStream<Data> {
        AsyncStream { continuation in
            continuation.yield(Data("hello".utf8))
            continuation.finish()
        }
    }

    @Test(arguments: Death.allCases, [nil, 4, 4_000_000])
    func whatMayNotIsNeverSentTwice(death: Death, size: Int?) async throws {
        let method = HTTPMethod.post
        let server = try server(death)
        let body = size.map { HTTPBody.data(Data(repeating: 1, count: $0)) }
        let record = try await second(method, server, body: body)
        #expect(record.error?.code == .connectionLost)
        #expect(record.ends.count == 1)
        #expect(
            seen.state.withLock { $0.requests.filter { $0.method == method.rawValue }.count }
                == (death == .closesUnread ? 0 : 1))
        let next = try await transport.run(method, server.url(), body: body)
        #expect(next.error == nil)
    }

    /// libcurl alone gives up after five dead connections.
    @Test(arguments: Death.allCases)
    func howeverManyHaveDied(death: Death) async throws {
        let count = 12
        let server = try server(death, mortals: count)
        let request = TransportRequest(method: .get, url: try .test(server.url()))
        let recorders = (0..<count).map { _ in Recorder() }
        for recorder in recorders { _ = transport.start(request, receiver: recorder) }
        for recorder in recorders { #expect(await recorder.end().error == nil) }
        #expect(server.connections == count)
        let record = try await transport.run(.get, server.url()) { $0.options.mayReplay = true }
        #expect(record.error == nil)
        #expect(record.ends.count == 1)
        #expect(seen.state.withLock { $0.died } > 5)
        #expect(server.connections == count + 1)
    }

    /// A body that meets a reset while it is sent.
    @Test(arguments: [HTTPMethod.put, .post])
    func deadInTheMiddleOfTheBody(method: HTTPMethod) async throws {
        let seen = seen
        let server = try RawServer { connection in
            while let head = connection.readHead() {
                if connection.number == 1, connection.answered == 1 {
                    _ = connection.readBody(1000)
                    return connection.reset()
                }
                let name = String(head.prefix { $0 != " " })
                let body = connection.readBody(of: head)
                seen.state.withLock { $0.requests.append((connection.number, name, body)) }
                connection.answer("hi")
            }
        }
        let body = Data(repeating: 7, count: 8_000_000)
        let record = try await second(method, server, body: .data(body))
        #expect(record.ends.count == 1)
        if method == .put {
            #expect(record.error == nil)
            #expect(count(method, body: body) == 1)
        } else {
            #expect(record.error?.code == .connectionLost)
            #expect(seen.state.withLock { $0.requests.count } == 1)
        }
    }

    @Test func aNewConnectionThatDiesIsAFailure() async throws {
        let server = try RawServer { connection in
            _ = connection.readHead()
            if connection.number > 1 { connection.answer("hi") }
        }
        let record = try await transport.run(.get, server.url()) { $0.options.mayReplay = true }
        #expect(record.error?.code == .connectionLost)
        #expect(server.connections == 1)
    }

    @Test(arguments: ["HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 200 OK\r\nA: b"])
    func anAnswerThatHadBegunIsAFailure(beginning: String) async throws {
        let server = try RawServer { connection in
            while connection.readHead() != nil {
                guard connection.answered == 1 else {
                    connection.answer("hi")
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
