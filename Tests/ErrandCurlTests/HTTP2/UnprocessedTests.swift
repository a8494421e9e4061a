import ErrandCore
import ErrandCurl
import ErrandTesting
import ErrandTransport
import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing

/// Requests that an HTTP/2 server has not processed are repeated with any method (RFC 9113 §8.7).
@Suite(.limited)
struct UnprocessedTests {
    enum Refusal: CaseIterable {
        case refusedStream, goAway
        // These do not prove that the request was not processed.
        case cancel, internalError, http11Required, goAwayAfterStream, close
        // HTTP/1.1 is required by GOAWAY, without the request and after it.
        case http11GoAway, http11GoAwayAfterStream

        var provesNothing: Bool { self != .refusedStream && self != .goAway }
        var requiresHTTP11: Bool {
            self == .http11Required || self == .http11GoAway || self == .http11GoAwayAfterStream
        }
        var ends: Bool {
            self == .close || self == .goAwayAfterStream || self == .http11GoAwayAfterStream
        }

        /// Refuses the request on a stream.
        func write(to connection: RawConnection, _ stream: UInt32) {
            switch self {
            case .refusedStream: reset(connection, stream, 7)
            case .goAway: goAway(connection, last: 0)
            case .cancel: reset(connection, stream, 8)
            case .internalError: reset(connection, stream, 2)
            case .http11Required: reset(connection, stream, 13)
            case .goAwayAfterStream: goAway(connection, last: stream)
            case .close: break
            case .http11GoAway: goAway(connection, last: 0, code: 13)
            case .http11GoAwayAfterStream: goAway(connection, last: stream, code: 13)
            }
        }

        private func reset(_ connection: RawConnection, _ stream: UInt32, _ code: UInt32) {
            connection.write(
                RawFrame(
                    kind: RawFrame.Kind.reset, stream: stream, payload: RawFrame.number(code)))
        }

        func goAway(_ connection: RawConnection, last: UInt32, code: UInt32 = 0) {
            connection.write(
                RawFrame(
                    kind: RawFrame.Kind.goAway,
                    payload: RawFrame.number(last) + RawFrame.number(code)))
        }
    }

    private let requests = Requests()

    final class Requests: Sendable {
        let count = Mutex(0)
    }

    /// Refuses the first requests and responds to the others.
    private func server(_ refusal: Refusal, times: Int = 1) throws -> RawServer {
        try RawServer { [requests] connection in
            guard connection.exchangePrefaces() else { return }
            while let stream = connection.readRequest() {
                let number = requests.count.withLock { count in
                    count += 1
                    return count
                }
                if number > times {
                    connection.respond(stream: stream)
                } else {
                    refusal.write(to: connection, stream)
                    if refusal.ends { return }
                }
            }
        }
    }

    private func run(
        _ transport: CurlTransport, _ server: RawServer, _ method: HTTPMethod = .post,
        body: HTTPBody? = .string("body")
    ) async throws -> RecordingReceiver.Record {
        try await transport.run(method, server.url(), body: body) {
            $0.options.httpVersion = .http2PriorKnowledge
            $0.options.mayReplay = false
        }
    }

    @Test(arguments: [Refusal.refusedStream, .goAway], [nil, "body"])
    func refusedRequestIsRepeated(refusal: Refusal, body: String?) async throws {
        let server = try server(refusal)
        let transport = CurlTransport()
        let record = try await run(transport, server, body: body.map { .string($0) })
        #expect(record.error == nil)
        #expect(record.head?.status == .ok)
        #expect(requests.count.withLock { $0 } == 2)
        // A request that was sent before the SETTINGS may have been refused for that reason. A server that is about to
        // close expects the repetition on another connection.
        #expect(server.connections == (refusal == .goAway ? 2 : 1))
    }

    /// A server that refuses a request although its limits allow it gets the repetition on another connection.
    @Test(arguments: [Refusal.refusedStream, .goAway])
    func laterRefusalIsFollowedByAnotherConnection(refusal: Refusal) async throws {
        let server = try RawServer { connection in
            guard connection.exchangePrefaces() else { return }
            var isFirst = true
            while let stream = connection.readRequest() {
                if isFirst || connection.number > 1 {
                    connection.respond(stream: stream)
                } else {
                    refusal.write(to: connection, stream)
                }
                isFirst = false
            }
        }
        let transport = CurlTransport { $0.connectionsPerHost = 1 }
        #expect(try await run(transport, server).error == nil)
        let record = try await run(transport, server)
        #expect(record.error == nil, "\(record.errorText)")
        #expect(server.connections == 2)
    }

    /// The server names its limit of ten when a hundred requests have arrived, and on later connections at once.
    @Test func burstBeyondTheServersLimitIsServed() async throws {
        let refusals = Mutex(0)
        let server = try RawServer { connection in
            guard connection.readBody(24).count == 24 else { return }
            var held: [UInt32] = []
            func take(_ stream: UInt32) {
                guard held.count < 10 else {
                    refusals.withLock { $0 += 1 }
                    return Refusal.refusedStream.write(to: connection, stream)
                }
                held.append(stream)
                // What the client sends before it acknowledges belongs to the same batch.
                if held.count == 1 {
                    connection.write(
                        RawFrame(kind: 6, payload: [UInt8](repeating: 0, count: 8)))
                }
            }
            var early: [UInt32] = []
            while connection.number == 1, early.count < 100 {
                guard let stream = connection.readRequest() else { return }
                early.append(stream)
            }
            connection.write(
                RawFrame(kind: RawFrame.Kind.settings, payload: [0, 3] + RawFrame.number(10)))
            for stream in early { take(stream) }
            while let frame = connection.readFrame() {
                if frame.kind == RawFrame.Kind.headers { take(frame.stream) }
                if frame.kind == 6, frame.flags == 1 {
                    for stream in held { connection.respond(stream: stream) }
                    held = []
                }
            }
        }
        let transport = CurlTransport()
        var request = TransportRequest(method: .post, url: try .test(server.url()))
        request.options.httpVersion = .http2PriorKnowledge
        request.options.mayReplay = false
        let receivers = (0..<100).map { _ in RecordingReceiver() }
        for receiver in receivers { _ = transport.start(request, receiver: receiver) }
        for receiver in receivers {
            let record = try await receiver.ended()
            #expect(record.error == nil, "\(record.errorText)")
        }
        #expect(refusals.withLock { $0 } == 90)
    }

    @Test(arguments: Refusal.allCases.filter(\.provesNothing), [nil, "body"])
    func possiblyProcessedRequestIsNotRepeated(refusal: Refusal, body: String?) async throws {
        let server = try server(refusal)
        let transport = CurlTransport()
        let record = try await run(transport, server, body: body.map { .string($0) })
        let namesVersion = refusal.requiresHTTP11
        #expect(record.error?.code == (namesVersion ? .badServerResponse : .connectionLost))
        #expect(record.error?.isUnprocessed == false)
        #expect(requests.count.withLock { $0 } == 1)
        // A refusal that libcurl has stored must not cause a repetition of another request.
        #expect(try await run(transport, server).error == nil)
    }

    /// HTTP/1.1 must not be sent to a port where HTTP/2 is expected.
    @Test(
        arguments: [HTTPMethod.get, .put, .post], Refusal.allCases.filter(\.requiresHTTP11))
    func requiredHTTP11FailsWithPriorKnowledge(method: HTTPMethod, refusal: Refusal) async throws {
        let server = try server(refusal)
        let record = try await CurlTransport().run(method, server.url()) {
            $0.options.httpVersion = .http2PriorKnowledge
            $0.options.mayReplay = method.isIdempotent
        }
        #expect(record.error?.code == .badServerResponse)
        #expect(record.error?.message.contains("requires HTTP/1.1") == true)
        #expect(requests.count.withLock { $0 } == 1)
        #expect(server.connections == 1)
    }

    @Test(arguments: [Refusal.refusedStream, .goAway])
    func repetitionsAreLimited(refusal: Refusal) async throws {
        let server = try server(refusal, times: 100)
        let record = try await run(CurlTransport(), server)
        #expect(record.error?.code == .connectionLost)
        #expect(record.error?.isUnprocessed == true)
        // One refusal of a request that was sent before the SETTINGS does not count.
        #expect(requests.count.withLock { $0 } == (refusal == .goAway ? 3 : 4))
    }

    /// A refusal after a partial response is an error, and does not affect the next request on the connection.
    @Test func refusalDoesNotAffectNextRequest() async throws {
        let hasBegun = DispatchSemaphore(value: 0)
        let server = try RawServer { [requests] connection in
            guard connection.exchangePrefaces(), let stream = connection.readRequest() else {
                return
            }
            requests.count.withLock { $0 += 1 }
            connection.write(
                RawFrame(
                    kind: RawFrame.Kind.headers, flags: RawFrame.endOfHeaders, stream: stream,
                    payload: RawFrame.status200))
            hasBegun.wait()
            Refusal.refusedStream.write(to: connection, stream)
            guard connection.readRequest() != nil else { return }
            requests.count.withLock { $0 += 1 }
        }
        let transport = CurlTransport()
        var request = TransportRequest(method: .post, url: try .test(server.url()))
        request.options.httpVersion = .http2PriorKnowledge
        let recorder = RecordingReceiver()
        _ = transport.start(request, receiver: recorder)
        try await recorder.until { $0.head != nil || $0.end != nil }
        hasBegun.signal()
        let first = try await recorder.ended()
        #expect(first.error?.code == .connectionLost)
        #expect(first.error?.isUnprocessed == false)
        let second = try await run(transport, server)
        #expect(second.error?.code == .connectionLost)
        #expect(requests.count.withLock { $0 } == 2)
    }

    /// The error of a request that ends with its connection names the code of GOAWAY.
    @Test func errorNamesTheCodeOfGoAway() async throws {
        let server = try RawServer { connection in
            guard connection.exchangePrefaces(), let stream = connection.readRequest() else {
                return
            }
            Refusal.goAway.goAway(connection, last: stream, code: 11)
        }
        let record = try await run(CurlTransport(), server)
        #expect(record.error?.code == .connectionLost)
        #expect(record.error?.message.contains("ENHANCE_YOUR_CALM") == true, "\(record.errorText)")
    }

    /// A response that has begun is not repeated: its receiver would get a second head.
    @Test func goAwayDuringTheResponseIsNoRepetition() async throws {
        let server = try RawServer { [requests] connection in
            guard connection.exchangePrefaces() else { return }
            while let stream = connection.readRequest() {
                requests.count.withLock { $0 += 1 }
                connection.write(
                    RawFrame(
                        kind: RawFrame.Kind.headers, flags: RawFrame.endOfHeaders, stream: stream,
                        payload: RawFrame.status200))
                connection.write(
                    RawFrame(
                        kind: RawFrame.Kind.data, stream: stream, payload: Array("part".utf8)))
                Refusal.goAway.goAway(connection, last: 0, code: 2)
            }
        }
        let record = try await run(CurlTransport(), server)
        #expect(record.error?.code == .connectionLost)
        #expect(record.error?.isUnprocessed == false)
        #expect(record.text == "part" && record.violations.isEmpty, "\(record.text)")
        #expect(requests.count.withLock { $0 } == 1)
    }

    @Test func nonReplayableBodyIsNotRepeated() async throws {
        let server = try server(.refusedStream)
        let once = Mutex(false)
        let body = HTTPBody.stream(length: 4) {
            let wasMade = once.withLock { wasMade in
                defer { wasMade = true }
                return wasMade
            }
            if wasMade { throw Missing() }
            return AsyncStream<Data> { stream in
                stream.yield(Data("body".utf8))
                stream.finish()
            }
        }
        let record = try await run(CurlTransport(), server, body: body)
        #expect(record.error != nil)
        #expect(requests.count.withLock { $0 } == 1)
    }
}
