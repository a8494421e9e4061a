import ErrandCore
import ErrandCurl
import ErrandTesting
import Foundation
import HTTPTypes
import Testing

/// Versions of HTTP as real servers speak them, and what HTTP/2 brings.
@Suite("Real peers: HTTP/2", .timeLimit(.minutes(3)))
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
    func versionIsAgreedUpon(
        peer: Peers.Peer, policy: TransportOptions.HTTPVersionPolicy, version: HTTPVersion
    ) async throws {
        var request = peers.request(peer, "/index.html")
        request.options.httpVersion = policy
        let record = try await transport.run(request)
        #expect(record.error == nil, "\(record.trouble)")
        #expect(record.head?.httpVersion == version)
        #expect(record.text == "home")
        #expect(record.head?.remoteAddress == "127.0.0.1:\(peers.port(peer))")
    }

    @Test func insistingOnHTTP2WhereThereIsNone() async throws {
        var request = peers.request(.nginxTLS12)
        request.options.httpVersion = .http2
        let record = try await transport.run(request)
        #expect(record.error?.code == .unsupported, "\(record.trouble)")
    }

    /// A burst on a cold transport waits for the one connection that is being set up.
    ///
    /// A hundred go there: nginx takes more at once, but may not have said so yet.
    @Test func oneConnectionCarriesMany() async throws {
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

    /// With several loops all requests of a host still go one way.
    @Test func oneConnectionWithSeveralLoops() async throws {
        var configuration = CurlConfiguration()
        configuration.loops = 4
        let transport = CurlTransport(configuration: configuration)
        let request = peers.request(.nginxTLS, host: "localhost")
        let records = try await transport.run(all: Array(repeating: request, count: 100))
        #expect(records.allSatisfy { $0.error == nil && $0.head?.httpVersion == .http2 })
        #expect(Set(records.map { PeerInfo($0).connection }).count == 1)
    }

    /// What is more than the server takes at once opens a connection for a hundred, not one for each; or waits, where
    /// connections are limited.
    @Test(arguments: [nil, 2])
    func burstsBeyondTheServersLimit(limit: Int?) async throws {
        var configuration = CurlConfiguration()
        configuration.connectionsPerHost = limit
        let transport = CurlTransport(configuration: configuration)
        let request = peers.request(.nginxTLS, host: "localhost")
        let records = try await transport.run(all: Array(repeating: request, count: 600))
        #expect(records.allSatisfy { $0.error == nil })
        #expect(Set(records.map { PeerInfo($0).connection }).count <= limit ?? 7)
    }

    /// A server that serves one request at a time on a connection holds nobody up.
    @Test func burstsWithoutHTTP2() async throws {
        // No limits: a busy machine may take its time.
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
            #expect(record.error?.code == .cancelled, "\(record.trouble)")
        }
    }

    /// Who waits behind a burst can be cancelled, and waits no longer than the limit of connecting.
    @Test func waitingInABurst() async throws {
        var configuration = CurlConfiguration()
        configuration.connectionsPerHost = 1
        let transport = CurlTransport(configuration: configuration)
        // No limits but the one that is meant: a busy machine may take its time.
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
        #expect(after.error == nil, "\(after.trouble)")
    }

    @Test func priorKnowledge() async throws {
        for _ in 0..<3 {
            var request = peers.request(.nghttpdPlain, "/index.html")
            request.options.httpVersion = .http2PriorKnowledge
            let record = try await transport.run(request)
            #expect(record.error == nil, "\(record.trouble)")
            #expect(record.head?.httpVersion == .http2)
            #expect(record.text == "home")
        }
        let body = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0) })
        var upload = peers.request(
            .nghttpdPlain, method: .post, "/echo", body: .data(body))
        upload.options.httpVersion = .http2PriorKnowledge
        let record = try await transport.run(upload)
        #expect(record.error == nil, "\(record.trouble)")
        #expect(record.body == body)
    }

    @Test func trailers() async throws {
        let record = try await transport.run(peers.request(.nghttpdTLS, "/index.html"))
        #expect(record.error == nil, "\(record.trouble)")
        let checksum = try #require(HTTPField.Name("x-checksum"))
        let note = try #require(HTTPField.Name("x-note"))
        #expect(record.end?.trailers[checksum] == "1234")
        #expect(record.end?.trailers[note] == "behind the body")
        #expect(record.head?.headers[checksum] == nil)
    }

    /// libcurl has limits of its own, and says little about them.
    @Test func largeHeads() async throws {
        func run(_ query: String) async throws -> RecordingReceiver.Record {
            var request = peers.request(.earlyTLS, "/stop?status=200&\(query)")
            request.options.maximumHeadBytes = 8 << 20
            return try await transport.run(request)
        }
        for query in [
            "lines=40&line=1000", "lines=90&line=1000", "lines=1&line=40000", "lines=1&line=70000",
            "lines=2000&line=10",
        ] {
            let record = try await run(query)
            #expect((record.end?.timings.finished ?? .zero) < .seconds(15), "\(query)")
            #expect(record.error == nil && record.text == "xxxx", "\(record.trouble)")
        }
        var small = peers.request(.earlyTLS, "/stop?status=200&lines=90&line=1000")
        small.options.receiveBufferBytes = 1024
        let slow = try await transport.run(small)
        #expect(slow.error == nil && slow.text == "xxxx", "\(slow.trouble)")
        let both = try await run("lines=90&line=1000&length=40000")
        #expect(both.error == nil && both.received == 40_000, "\(both.trouble)")
        let many = try await run("lines=200&line=1000")
        #expect(many.error?.code == .badServerResponse, "\(many.trouble)")
        #expect(many.error?.message.contains("larger than libcurl takes over HTTP/2") == true)
        let long = try await run("lines=1&line=110000")
        #expect(long.error != nil && long.head == nil)
        let next = try await run("lines=1")
        #expect(next.error == nil, "\(next.trouble)")
    }

    /// Heads larger than a usual buffer, of which one connection brings several at once, with bodies that nothing but
    /// the stream's end ends.
    @Test(arguments: [nil, 1024])
    func largeHeadsAtOnce(bufferBytes: Int?) async throws {
        for query in ["lines=25&line=1000", "lines=40&line=1000", "lines=90&line=1000"] {
            var request = peers.request(.earlyTLS, "/stop?status=200&silent&\(query)")
            request.options.receiveBufferBytes = bufferBytes
            request.timeouts.idle = .seconds(10)
            for count in [1, 6, 6] {
                let records = try await transport.run(all: Array(repeating: request, count: count))
                #expect(records.compactMap { $0.error?.description } == [], "\(query)")
                #expect(records.allSatisfy { $0.text == "xxxx" })
            }
            // Another kind of options in between: handles must not keep what they had.
            request.options.httpVersion = .http2
            let records = try await transport.run(all: Array(repeating: request, count: 6))
            #expect(records.compactMap { $0.error?.description } == [], "\(query)")
        }
    }

    @Test func manyLargeAnswersAtOnce() async throws {
        let request = peers.request(.nginxTLS, host: "localhost", "/large")
        let records = try await transport.run(all: Array(repeating: request, count: 16))
        let expected = Data((0..<(1 << 20)).map { UInt8(truncatingIfNeeded: $0) })
        #expect(records.allSatisfy { $0.error == nil && $0.body == expected })
    }

    @Test func uploadsOfEachKind() async throws {
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
            #expect(record.error == nil, "\(record.trouble)")
            #expect(record.head?.status == .ok)
            #expect(record.sent == 300_000)
        }
    }

    @Test func headAndRange() async throws {
        for peer in [Peers.Peer.nginxTLS, .nginxPlain] {
            let head = try await transport.run(peers.request(peer, method: .head, "/large"))
            #expect(head.error == nil && head.body.isEmpty)
            #expect(head.head?.headers[.contentLength] == "1048576")
            let part = try await transport.run(
                peers.request(peer, "/large", headers: [.range: "bytes=1000-1999"]))
            #expect(part.head?.status == .partialContent)
            #expect(part.body == Data((1000..<2000).map { UInt8(truncatingIfNeeded: $0) }))
            #expect(part.head?.headers[.contentRange] == "bytes 1000-1999/1048576")
        }
    }

    /// The body waits for the server's word, and stays where it is when the word is no.
    @Test(arguments: [Peers.Peer.nginxTLS12, .nginxTLS, .nginxPlain])
    func expectation(peer: Peers.Peer) async throws {
        let body = HTTPBody.data(Data(repeating: 7, count: 100_000))
        let yes = try await transport.run(
            peers.request(
                peer, method: .post, "/bin/post", headers: [.expect: "100-continue"], body: body))
        #expect(yes.error == nil, "\(yes.trouble)")
        #expect(yes.sent == 100_000)
        if peer != .nginxTLS {
            #expect(yes.informational.map(\.status.code) == [100])
            let no = try await transport.run(
                peers.request(
                    peer, method: .post, "/small-only", headers: [.expect: "100-continue"],
                    body: body))
            #expect(no.head?.status.code == 413 && no.error == nil, "\(no.trouble)")
            #expect(no.sent == 0)
        }
    }

    /// Requests that lose the connection they share go on together on the next one.
    @Test(arguments: ["close", "reset", "goaway"], [HTTPMethod.get, .put])
    func aConnectionThatDiesUnderMany(how: String, method: HTTPMethod) async throws {
        let first = try await transport.run(
            peers.request(.earlyTLS, "/stop?status=200"))
        #expect(first.error == nil, "\(first.trouble)")
        let request = peers.request(
            .earlyTLS, method: method,
            "/dies?how=\(how)&count=50&token=\(UUID().uuidString)",
            body: method == .put ? .data(Data(repeating: 1, count: 500)) : nil)
        let records = try await transport.run(all: Array(repeating: request, count: 50))
        #expect(Set(records.compactMap { $0.error?.description }).sorted() == [])
        #expect(Set(records.map(\.text)).count == 1)
    }

    /// What the server has not processed goes out again whatever the method is, and together, too.
    @Test(arguments: ["refuse", "goaway"], [true, false])
    func aConnectionThatRefusesMany(how: String, isKept: Bool) async throws {
        if isKept {
            let first = try await transport.run(peers.request(.earlyTLS, "/stop?status=200"))
            #expect(first.error == nil, "\(first.trouble)")
        }
        let request = peers.request(
            .earlyTLS, method: .post, "/dies?how=\(how)&count=50&token=\(UUID().uuidString)",
            body: .data(Data(repeating: 1, count: 500)))
        #expect(!request.options.mayReplay)
        let records = try await transport.run(all: Array(repeating: request, count: 50))
        #expect(Set(records.compactMap { $0.error?.description }).sorted() == [])
        #expect(Set(records.map(\.text)).count == 1)
    }

    @Test func keptConnections() async throws {
        for peer in [Peers.Peer.nginxPlain, .nginxTLS12] {
            let records = try await [
                transport.run(peers.request(peer)), transport.run(peers.request(peer)),
            ]
            #expect(records.map { $0.end?.timings.reusedConnection } == [false, true])
            #expect(PeerInfo(records[0]).connection == PeerInfo(records[1]).connection)
        }
    }
}
