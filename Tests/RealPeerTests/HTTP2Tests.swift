import ErrandCore
import ErrandCurl
import ErrandTesting
import ErrandTransport
import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing

/// HTTP version negotiation and HTTP/2 features with real servers.
@Suite("Real peers: HTTP/2", .limited)
struct HTTP2Tests {
    private let peers: Peers
    private let transport = CurlTransport()

    init() throws { peers = try Peers.get() }

    @Test(arguments: [
        (Peers.Peer.nginxTLS, TransportOptions.HTTPVersionPolicy.automatic, HTTPVersion.http2),
        (.nginxTLS, .http2, .http2), (.nginxTLS, .http11, .http11),
        (.nginxTLS12, .automatic, .http11), (.nginxTLS12, .http11, .http11),
        (.nginxPlain, .automatic, .http11), (.nginxPlain, .http11, .http11),
        (.nghttpdTLS, .automatic, .http2), (.nghttpdTLS, .http2, .http2),
    ])
    func versionIsNegotiated(
        peer: Peers.Peer, policy: TransportOptions.HTTPVersionPolicy, version: HTTPVersion
    ) async throws {
        var request = peers.request(peer, "/index.html")
        request.options.httpVersion = policy
        let record = try await transport.run(request)
        #expect(record.error == nil, "\(record.errorText)")
        #expect(record.head?.httpVersion == version)
        #expect(record.text == "home")
        #expect(record.head?.remoteAddress == "127.0.0.1:\(peers.port(peer))")
    }

    @Test func requiredHTTP2FailsWithoutServerSupport() async throws {
        var request = peers.request(.nginxTLS12)
        request.options.httpVersion = .http2
        let record = try await transport.run(request)
        #expect(record.error?.code == .unsupported, "\(record.errorText)")
        #expect(record.end?.timings.bytesSent == 0)
    }

    /// The server may act on anything that was sent, so nothing may be sent.
    @Test(arguments: [HTTPMethod.get, .post])
    func requiredHTTP2SendsNothingOverHTTP1(method: HTTPMethod) async throws {
        let marks = (0..<3).map { _ in UUID().uuidString }
        var request = peers.request(
            .nginxTLS12, method: method, "/info?\(marks[0])",
            body: method == .post ? .string("act on this") : nil)
        request.options.httpVersion = .http2
        let record = try await transport.run(request)
        #expect(record.error?.code == .unsupported, "\(record.errorText)")
        // nginx logs a request before it responds to the next one on the same connection.
        for mark in marks.dropFirst() {
            let seen = try await transport.run(peers.request(.nginxTLS12, "/info?\(mark)"))
            #expect(seen.error == nil, "\(seen.errorText)")
        }
        let log = try String(contentsOfFile: "\(peers.folder)/nginx-access.log", encoding: .utf8)
        #expect(log.contains(marks[1]))
        #expect(!log.contains(marks[0]))
    }

    /// A burst on a new transport waits for the first connection.
    ///
    /// A hundred streams are allowed until nginx's SETTINGS frame with a higher limit arrives.
    @Test func burstSharesOneConnection() async throws {
        let request = peers.request(.nginxTLS, host: "localhost")
        let records = try await transport.run(all: Array(repeating: request, count: 100))
        #expect(records.allSatisfy { $0.error == nil && $0.head?.httpVersion == .http2 })
        #expect(Set(records.map { PeerInfo($0).connection }).count == 1)
        let fresh = records.filter { $0.end?.timings.reusedConnection == false }
        #expect(fresh.count == 1)
        #expect(fresh.first?.end?.timings.secured != nil)
        #expect(
            records.allSatisfy {
                $0.end?.timings.reusedConnection == false || $0.end?.timings.secured == nil
            })
    }

    /// Requests that start in one turn of the loop are written together.
    ///
    /// A receiver holds the loop until all requests have been started.
    @Test func requestsOfATurnAreWrittenTogether() async throws {
        let transport = transport
        let request = peers.request(.nginxTLS, host: "localhost")
        let first = PeerInfo(try await transport.run(request))
        let socket = try #require(ClientSocket(localPort: Int(first["port"])))
        let receivers = (0..<64).map { _ in RecordingReceiver() }
        let before = Mutex(0)
        let holder = HeadReceiver {
            before.withLock { $0 = socket.segmentsSent }
            for receiver in receivers { _ = transport.start(request, receiver: receiver) }
        }
        _ = transport.start(request, receiver: holder)
        _ = try await holder.recorder.ended()
        for receiver in receivers {
            let record = try await receiver.ended()
            #expect(record.error == nil, "\(record.errorText)")
            #expect(PeerInfo(record).connection == first.connection)
        }
        let count = socket.segmentsSent - before.withLock { $0 }
        #expect((1...16).contains(count), "\(count) segments for 64 requests")
    }

    /// With several event loops, all requests to a host still share a connection.
    @Test func burstSharesOneConnectionWithSeveralLoops() async throws {
        var configuration = CurlConfiguration()
        configuration.loops = 4
        let transport = CurlTransport(configuration: configuration)
        let request = peers.request(.nginxTLS, host: "localhost")
        let records = try await transport.run(all: Array(repeating: request, count: 100))
        #expect(records.allSatisfy { $0.error == nil && $0.head?.httpVersion == .http2 })
        #expect(Set(records.map { PeerInfo($0).connection }).count == 1)
    }

    /// A burst above the server's stream limit opens one connection per hundred requests, or waits if connections are
    /// limited.
    @Test(arguments: [nil, 2])
    func burstAboveTheStreamLimitUsesFewConnections(limit: Int?) async throws {
        var configuration = CurlConfiguration()
        configuration.connectionsPerHost = limit
        let transport = CurlTransport(configuration: configuration)
        let request = peers.request(.nginxTLS, host: "localhost")
        let records = try await transport.run(all: Array(repeating: request, count: 600))
        #expect(records.allSatisfy { $0.error == nil })
        #expect(Set(records.map { PeerInfo($0).connection }).count <= limit ?? 7)
    }

    /// Over HTTP/1.1, slow requests do not delay other requests.
    @Test func slowRequestsDoNotDelayOthersOverHTTP1() async throws {
        // No timeouts: a loaded machine may be slow.
        var slow = peers.request(.nginxTLS12, "/slow")
        slow.timeouts = Timeouts(connect: nil, idle: nil)
        let started = (0..<110).map { _ in
            let receiver = RecordingReceiver()
            return (transport.start(slow, receiver: receiver), receiver)
        }
        let quick = peers.request(.nginxTLS12, "/index.html")
        let records = try await transport.run(all: Array(repeating: quick, count: 20))
        #expect(records.allSatisfy { $0.error == nil && $0.head?.httpVersion == .http11 })
        for (transfer, _) in started { transfer.cancel() }
        for (_, receiver) in started {
            let record = try await receiver.ended()
            #expect(record.error?.code == .cancelled, "\(record.errorText)")
        }
    }

    /// A request that waits for a stream can be cancelled, and the connect timeout limits its wait.
    @Test func waitForAStreamEndsAtTheConnectTimeout() async throws {
        var configuration = CurlConfiguration()
        configuration.connectionsPerHost = 1
        let transport = CurlTransport(configuration: configuration)
        // No other timeouts: a loaded machine may be slow.
        var slow = peers.request(.nginxTLS, host: "localhost", "/slow")
        slow.timeouts = Timeouts(connect: nil, idle: nil)
        let started = (0..<160).map { _ in
            let receiver = RecordingReceiver()
            return (transport.start(slow, receiver: receiver), receiver)
        }
        var late = slow
        late.timeouts.connect = .milliseconds(300)
        let record = try await transport.run(late)
        #expect(record.error?.code == .timedOut && record.error?.timeout == .connect)
        for (transfer, _) in started { transfer.cancel() }
        for (_, receiver) in started {
            #expect(try await receiver.ended().end?.error?.code == .cancelled)
        }
        let after = try await transport.run(peers.request(.nginxTLS, host: "localhost"))
        #expect(after.error == nil, "\(after.errorText)")
    }

    @Test func http2WithPriorKnowledge() async throws {
        for _ in 0..<3 {
            var request = peers.request(.nghttpdPlain, "/index.html")
            request.options.httpVersion = .http2PriorKnowledge
            let record = try await transport.run(request)
            #expect(record.error == nil, "\(record.errorText)")
            #expect(record.head?.httpVersion == .http2)
            #expect(record.text == "home")
        }
        let body = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0) })
        var upload = peers.request(
            .nghttpdPlain, method: .post, "/echo", body: .data(body))
        upload.options.httpVersion = .http2PriorKnowledge
        let record = try await transport.run(upload)
        #expect(record.error == nil, "\(record.errorText)")
        #expect(haveSameBytes(record.body, body))
    }

    @Test func trailersAreReported() async throws {
        let record = try await transport.run(peers.request(.nghttpdTLS, "/index.html"))
        #expect(record.error == nil, "\(record.errorText)")
        let checksum = try #require(HTTPField.Name("x-checksum"))
        let note = try #require(HTTPField.Name("x-note"))
        #expect(record.end?.trailers[checksum] == "1234")
        #expect(record.end?.trailers[note] == "after the body")
        #expect(record.head?.headers[checksum] == nil)
    }

    /// Only the request limits the size of a head.
    @Test func largeHeadsAreReported() async throws {
        func run(_ query: String) async throws -> RecordingReceiver.Record {
            var request = peers.request(.earlyTLS, "/stop?status=200&\(query)")
            request.options.maximumHeadBytes = 8 << 20
            return try await transport.run(request)
        }
        for query in [
            "lines=40&line=1000", "lines=90&line=1000", "lines=1&line=40000", "lines=1&line=70000",
            "lines=2000&line=10", "lines=200&line=1000", "lines=1&line=110000",
        ] {
            let record = try await run(query)
            #expect((record.end?.timings.finished ?? .zero) < .seconds(15), "\(query)")
            #expect(record.error == nil && record.text == "xxxx", "\(record.errorText)")
        }
        var small = peers.request(.earlyTLS, "/stop?status=200&lines=90&line=1000")
        small.options.receiveBufferBytes = 1024
        let slow = try await transport.run(small)
        #expect(slow.error == nil && slow.text == "xxxx", "\(slow.errorText)")
        let both = try await run("lines=90&line=1000&length=40000")
        #expect(both.error == nil && both.received == 40_000, "\(both.errorText)")
        var limited = peers.request(.earlyTLS, "/stop?status=200&lines=300&line=1000")
        limited.options.maximumHeadBytes = 250_000
        let many = try await transport.run(limited)
        #expect(many.error?.code == .badServerResponse, "\(many.errorText)")
        #expect(many.error?.message.contains("raise maximumHeadBytes") == true)
        let next = try await run("lines=1")
        #expect(next.error == nil, "\(next.errorText)")
    }

    /// Concurrent responses on one connection, with heads larger than the receive buffer and bodies without a length.
    @Test(arguments: [nil, 1024])
    func concurrentLargeHeadsAreReported(bufferBytes: Int?) async throws {
        for query in ["lines=25&line=1000", "lines=40&line=1000", "lines=90&line=1000"] {
            var request = peers.request(.earlyTLS, "/stop?status=200&silent&\(query)")
            request.options.receiveBufferBytes = bufferBytes
            request.timeouts.idle = .seconds(10)
            for count in [1, 6, 6] {
                let records = try await transport.run(all: Array(repeating: request, count: count))
                #expect(records.compactMap { $0.error?.description } == [], "\(query)")
                #expect(records.allSatisfy { $0.text == "xxxx" })
            }
            // Different options in between: reused handles must not keep the previous ones.
            request.options.httpVersion = .http2
            let records = try await transport.run(all: Array(repeating: request, count: 6))
            #expect(records.compactMap { $0.error?.description } == [], "\(query)")
        }
    }

    @Test func concurrentLargeResponses() async throws {
        let request = peers.request(.nginxTLS, host: "localhost", "/large")
        let records = try await transport.run(all: Array(repeating: request, count: 16))
        let expected = Peers.largeBody
        #expect(records.allSatisfy { $0.error == nil && $0.body == expected })
    }

    @Test func dataAndStreamUploads() async throws {
        let body = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 / 7) })
        let stream = HTTPBody.stream {
            AsyncStream { continuation in
                for start in stride(from: 0, to: body.count, by: 10_000) {
                    continuation.yield(body[start..<min(start + 10_000, body.count)])
                }
                continuation.finish()
            }
        }
        for body in [HTTPBody.data(body), stream] {
            let record = try await transport.run(
                peers.request(.nginxTLS, method: .post, "/bin/post", body: body))
            #expect(record.error == nil, "\(record.errorText)")
            #expect(record.head?.status == .ok)
            #expect(record.sent == 300_000)
        }
    }

    @Test func headAndRangeRequests() async throws {
        for peer in [Peers.Peer.nginxTLS, .nginxPlain] {
            let head = try await transport.run(peers.request(peer, method: .head, "/large"))
            #expect(head.error == nil && head.body.isEmpty)
            #expect(head.head?.headers[.contentLength] == "1048576")
            let part = try await transport.run(
                peers.request(peer, "/large", headers: [.range: "bytes=1000-1999"]))
            #expect(part.head?.status == .partialContent)
            #expect(
                haveSameBytes(part.body, Data((1000..<2000).map { UInt8(truncatingIfNeeded: $0) })))
            #expect(part.head?.headers[.contentRange] == "bytes 1000-1999/1048576")
        }
    }

    /// The body is sent after 100 Continue and not after a final status (RFC 9110 §10.1.1).
    @Test(arguments: [Peers.Peer.nginxTLS12, .nginxTLS, .nginxPlain])
    func expectContinueDelaysTheBody(peer: Peers.Peer) async throws {
        let body = HTTPBody.data(Data(repeating: 7, count: 100_000))
        let accepted = try await transport.run(
            peers.request(
                peer, method: .post, "/bin/post", headers: [.expect: "100-continue"], body: body))
        #expect(accepted.error == nil, "\(accepted.errorText)")
        #expect(accepted.sent == 100_000)
        if peer != .nginxTLS {
            #expect(accepted.informational.map(\.status.code) == [100])
            let rejected = try await transport.run(
                peers.request(
                    peer, method: .post, "/small-only", headers: [.expect: "100-continue"],
                    body: body))
            #expect(rejected.head?.status.code == 413, "\(rejected.errorText)")
            #expect(rejected.error == nil)
            #expect(rejected.sent == 0)
        }
    }

    /// Requests that lose their shared connection are retried together on a new one.
    @Test(arguments: ["close", "reset", "goaway"], [HTTPMethod.get, .put])
    func lostConnectionRetriesItsRequests(how: String, method: HTTPMethod) async throws {
        let first = try await transport.run(
            peers.request(.earlyTLS, "/stop?status=200"))
        #expect(first.error == nil, "\(first.errorText)")
        let request = peers.request(
            .earlyTLS, method: method,
            "/dies?how=\(how)&count=50&token=\(UUID().uuidString)",
            body: method == .put ? .data(Data(repeating: 1, count: 500)) : nil)
        let records = try await transport.run(all: Array(repeating: request, count: 50))
        #expect(Set(records.compactMap { $0.error?.description }).sorted() == [])
        #expect(Set(records.map(\.text)).count == 1)
    }

    /// Requests that the server has not processed are retried, whatever the method is (RFC 9113 §8.7).
    @Test(arguments: ["refuse", "goaway"], [true, false])
    func unprocessedRequestsAreRetried(how: String, reusesConnection: Bool) async throws {
        if reusesConnection {
            let first = try await transport.run(peers.request(.earlyTLS, "/stop?status=200"))
            #expect(first.error == nil, "\(first.errorText)")
        }
        let request = peers.request(
            .earlyTLS, method: .post, "/dies?how=\(how)&count=50&token=\(UUID().uuidString)",
            body: .data(Data(repeating: 1, count: 500)))
        #expect(!request.options.mayReplay)
        let records = try await transport.run(all: Array(repeating: request, count: 50))
        #expect(Set(records.compactMap { $0.error?.description }).sorted() == [])
        // A refused request that was sent before the server's SETTINGS is sent again on its connection, a later one on
        // a new connection. Which ones were sent before depends on the time that the SETTINGS need.
        let connections = how == "refuse" && !reusesConnection ? 1...2 : 1...1
        #expect(connections.contains(Set(records.map(\.text)).count))
    }

    @Test func http1ConnectionsAreReused() async throws {
        for peer in [Peers.Peer.nginxPlain, .nginxTLS12] {
            let records = try await [
                transport.run(peers.request(peer)), transport.run(peers.request(peer)),
            ]
            #expect(records.map { $0.end?.timings.reusedConnection } == [false, true])
            #expect(PeerInfo(records[0]).connection == PeerInfo(records[1]).connection)
        }
    }
}

/// A receiver that runs a closure on the transport's thread when the head arrives.
private final class HeadReceiver: TransferReceiver {
    let recorder = RecordingReceiver()
    private let action: @Sendable () -> Void

    init(_ action: @escaping @Sendable () -> Void) { self.action = action }

    func didReceive(head: ResponseHead) {
        action()
        recorder.didReceive(head: head)
    }

    func didReceive(bytes: UnsafeRawBufferPointer) -> Demand { recorder.didReceive(bytes: bytes) }

    func didEnd(_ end: TransferEnd) { recorder.didEnd(end) }
}
