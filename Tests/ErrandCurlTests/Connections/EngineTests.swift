import ErrandCore
import ErrandCurl
import ErrandTesting
import ErrandTransport
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// Connections and requests of the engine.
@Suite(.limited)
struct EngineTests {
    /// A server that responds with the first line of each request.
    private func echoing() throws -> RawServer {
        try RawServer { connection in
            while let head = connection.readHead() {
                connection.respond(String(head.prefix { $0 != "\r\n" }))
            }
        }
    }

    /// The head of a request whose connect has failed is never sent for a later one.
    @Test func headOfAFailedRequestIsNotSent() async throws {
        let server = try echoing()
        let dead = try DeadPort.Refusing()
        let transport = CurlTransport()
        for number in 0..<50 {
            let failed = try await transport.run(.get, "http://127.0.0.1:\(dead.port)/secret") {
                $0.headers[.authorization] = "Bearer secret"
            }
            #expect(failed.error?.code == .cannotConnect)
            let record = try await transport.run(.get, server.url("/\(number)"))
            #expect(record.text == "GET /\(number) HTTP/1.1", "\(record.errorText)")
        }
    }

    /// An idle connection with other options makes room for one that a request needs.
    @Test func idleConnectionMakesRoom() async throws {
        let server = try echoing()
        let transport = CurlTransport { $0.connectionsPerHost = 1 }
        for family in [TransportOptions.AddressFamily.any, .ipv4, .any] {
            let record = try await transport.run(.get, server.url("/")) {
                $0.options.addressFamily = family
            }
            #expect(record.error == nil, "\(record.errorText)")
        }
    }

    @Test func maximumConnectionsIsNotExceeded() async throws {
        let server = try echoing()
        let transport = CurlTransport { $0.maximumConnections = 2 }
        let request = TransportRequest(url: try .test(server.url("/")))
        let recorders = (0..<12).map { _ in RecordingReceiver() }
        for recorder in recorders { _ = transport.start(request, receiver: recorder) }
        for recorder in recorders { #expect(try await recorder.ended().error == nil) }
        #expect(server.connections <= 2)
    }

    /// A connection that becomes idle makes room for a request that already waits.
    @Test func connectionThatBecomesIdleMakesRoom() async throws {
        let server = try HeldServer()
        let transport = CurlTransport { $0.connectionsPerHost = 1 }
        let held = TransportRequest(url: try .test(server.url("/held")))
        var other = TransportRequest(url: try .test(server.url("/other")))
        other.options.addressFamily = .ipv4
        let recorders = [RecordingReceiver(), RecordingReceiver()]
        _ = transport.start(held, receiver: recorders[0])
        try await server.holdsRequest()
        _ = transport.start(other, receiver: recorders[1])
        server.respond()
        for recorder in recorders {
            let record = try await recorder.ended()
            #expect(record.error == nil && record.text == "good", "\(record.errorText)")
        }
    }

    /// A connect limit is divided among the addresses of the host.
    @Test func nextAddressIsTriedWithinTheConnectLimit() async throws {
        let silent = try DeadPort.Silent()
        let server = try RawServer(on: "127.0.0.2", port: silent.port) { connection in
            while connection.readHead() != nil { connection.respond("good") }
        }
        let url = "http://two.errand.test:\(server.port)/"
        let record = try await CurlTransport().run(.get, url) {
            $0.options.addressOverrides = [
                "two.errand.test:\(server.port)": ["127.0.0.1", "127.0.0.2"]
            ]
            $0.timeouts = Timeouts(connect: .seconds(4))
        }
        #expect(record.text == "good", "\(record.errorText)")
        withExtendedLifetime(silent) {}
    }

    /// A proxy gets the complete URL and its own credentials (RFC 9112 §3.2.2), and its connection
    /// serves all hosts.
    @Test func proxyGetsTheAbsoluteForm() async throws {
        let proxy = try RawServer { connection in
            while let head = connection.readHead() { connection.respond(head) }
        }
        let transport = CurlTransport()
        for (index, target) in ["http://a.test/x?y=1", "http://b.test:8080/"].enumerated() {
            let record = try await transport.run(.get, target) {
                $0.options.proxy = .url("http://user:secret@127.0.0.1:\(proxy.port)")
            }
            let lines = record.text.components(separatedBy: "\r\n")
            #expect(lines.first == "GET \(target) HTTP/1.1", "\(record.errorText)")
            #expect(lines.contains("Host: \(index == 0 ? "a.test" : "b.test:8080")"))
            #expect(lines.contains("Proxy-Authorization: Basic dXNlcjpzZWNyZXQ="))
            #expect(record.end?.timings.reusedConnection == (index == 1))
        }
        // A server behind the same address gets neither.
        let direct = try await transport.run(.get, proxy.url("/z"))
        #expect(direct.text.hasPrefix("GET /z HTTP/1.1\r\n"), "\(direct.errorText)")
        #expect(!direct.text.contains("Proxy-"))
        #expect(direct.end?.timings.reusedConnection == false)
    }

    @Test func missingProxyIsNamed() async throws {
        let dead = try DeadPort.Refusing()
        let transport = CurlTransport()
        for host in ["127.0.0.1:\(dead.port)", "missing-proxy.invalid:1"] {
            let record = try await transport.run(.get, "http://a.test/") {
                $0.options.proxy = .url("http://\(host)")
            }
            #expect(record.error?.code == .proxyFailed, "\(record.errorText)")
            #expect(record.error?.message.contains(host) == true, "\(record.errorText)")
        }
    }

    /// The server ends its direction before the reset, so the body is complete.
    @Test func endDuringAnUploadCompletesABodyWithoutLength() async throws {
        let server = try RawServer { connection in
            _ = connection.readHead()
            connection.write("HTTP/1.1 200 OK\r\n\r\nwhole")
            connection.finishSending()
            connection.reset()
        }
        let body = HTTPBody.data(Data(count: 64 << 20))
        for _ in 0..<10 {
            let record = try await CurlTransport().run(
                .post, server.url(), body: body)
            #expect(record.error == nil)
            #expect(record.body == Data("whole".utf8))
        }
    }

    /// Three clients take the only connection in turn, so a request of theirs waits nearly always.
    @Test func requestWithOtherOptionsGetsAConnectionToABusyHost() async throws {
        let server = try echoing()
        let transport = CurlTransport {
            $0.connectionsPerHost = 1
        }
        let url = server.url("/")
        let clients = (0..<3).map { _ in
            Task { while !Task.isCancelled { _ = try await transport.run(.get, url) } }
        }
        let other = try await transport.run(.get, server.url("/other")) {
            $0.options.addressFamily = .ipv4
        }
        for client in clients { client.cancel() }
        #expect(other.text == "GET /other HTTP/1.1", "\(other.errorText)")
    }

    /// Without bytes from the source, no failed write shows that the server is gone.
    @Test(.timeLimit(.minutes(1)))
    func closeAfterAnEarlyResponseWithSurplusEndsTheUpload() async throws {
        let server = try RawServer { connection in
            _ = connection.readHead()
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhiX")
        }
        let (stream, continuation) = AsyncStream.makeStream(of: Data.self)
        let transport = CurlTransport()
        let record = try await transport.run(
            .post, server.url(), body: .stream(isReplayable: false) { stream }
        ) { $0.timeouts.idle = nil }
        continuation.finish()
        #expect(record.error == nil)
        #expect(record.body == Data("hi".utf8))
    }

    /// Without chunked, Transfer-Encoding means that the body ends with the connection (RFC 9112
    /// §6.3), whatever its length is.
    @Test func connectionIsNotUsedAfterAnUnknownEnd() async throws {
        let server = try RawServer { connection in
            while connection.readHead() != nil {
                connection.write(
                    "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 2\r\n\r\nhi")
            }
        }
        let transport = CurlTransport()
        for _ in 0..<2 {
            let record = try await transport.run(.get, server.url())
            #expect(record.text == "hi" && record.error == nil, "\(record.errorText)")
            #expect(record.end?.timings.reusedConnection == false)
        }
    }

    @Test func negativeLengthIsRefused() async throws {
        let server = try echoing()
        let body = HTTPBody.stream(length: -5) {
            AsyncStream<Data> { $0.finish() }
        }
        let record = try await CurlTransport().run(.post, server.url(), body: body)
        #expect(record.error?.code == .invalidBody, "\(record.errorText)")
        #expect(server.connections == 0)
    }
}
