import ErrandCore
import ErrandCurl
import ErrandTesting
import ErrandTransport
import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing

/// `Expect: 100-continue`: the body is sent after the server's interim response.
@Suite(.limited)
struct ExpectTests {
    private func run(
        _ method: HTTPMethod, on server: RawServer,
        over transport: CurlTransport = CurlTransport(),
        body: HTTPBody = .data(Data(count: 100_000))
    ) async throws -> RecordingReceiver.Record {
        try await transport.run(method, server.url()) {
            $0.headers[.expect] = "100-continue"
            $0.body = body
            $0.options.mayReplay = method.isIdempotent
        }
    }

    @Test(arguments: [HTTPMethod.put, .post]) func bodyIsSentAfterContinue(
        method: HTTPMethod
    ) async throws {
        let server = try RawServer { connection in
            guard let head = connection.readHead() else { return }
            connection.write("HTTP/1.1 100 Continue\r\n\r\n")
            connection.respond("\(connection.readBody(of: head).count)")
        }
        let record = try await run(method, on: server)
        #expect(record.error == nil)
        #expect(String(decoding: record.body, as: UTF8.self) == "100000")
        #expect(record.informational.map(\.status.code) == [100])
    }

    /// A request without a body must not have the header (RFC 9110 §10.1.1).
    @Test(arguments: [nil, Data()]) func headerIsNotSentWithoutBody(body: Data?) async throws {
        let server = try RawServer { connection in
            guard let head = connection.readHead() else { return }
            connection.respond(head.lowercased().contains("expect:") ? "sent" : "left out")
        }
        let record = try await CurlTransport().run(.post, server.url()) {
            $0.headers[.expect] = "100-continue"
            $0.body = body.map { .data($0) }
        }
        #expect(record.error == nil)
        #expect(String(decoding: record.body, as: UTF8.self) == "left out")
    }

    @Test(arguments: [200, 401, 413]) func finalResponseSuppressesBody(status: Int) async throws {
        let server = try RawServer { connection in
            guard connection.readHead() != nil else { return }
            connection.write(
                "HTTP/1.1 \(status) X\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno")
            connection.waitForClose()
        }
        let record = try await run(.post, on: server)
        #expect(record.error == nil, "\(String(describing: record.error))")
        #expect(record.head?.status.code == status)
        #expect(status < 300 || record.sent == 0)
    }

    // libcurl would repeat the request with the same headers and discard the body of this response.
    @Test(arguments: [HTTPMethod.put, .post], [true, false])
    func expectationFailedIsFinalResponse(
        method: HTTPMethod, hasLength: Bool
    ) async throws {
        let bodies = Mutex(0)
        let heads = Mutex(0)
        let server = try RawServer { connection in
            while let head = connection.readHead() {
                heads.withLock { $0 += 1 }
                guard head.lowercased().contains("expect:") else {
                    bodies.withLock { $0 += connection.readBody(of: head).count }
                    connection.respond("ok")
                    continue
                }
                connection.write("HTTP/1.1 417 Expectation Failed\r\n")
                connection.write(
                    hasLength
                        ? "Content-Length: 2\r\n\r\nno"
                        : "Transfer-Encoding: chunked\r\n\r\n2\r\nno\r\n0\r\n\r\n")
            }
        }
        let transport = CurlTransport()
        for _ in 0..<3 {
            let record = try await run(method, on: server, over: transport)
            #expect(record.error == nil, "\(String(describing: record.error))")
            #expect(record.head?.status.code == 417)
            #expect(record.ends == 1 && record.violations.isEmpty)
        }
        #expect(bodies.withLock { $0 } == 0)
        #expect(heads.withLock { $0 } == 3)
        let plain = try await transport.run(.get, server.url())
        #expect(String(decoding: plain.body, as: UTF8.self) == "ok")
    }

    @Test func bodyIsSentWithoutContinueAfterTimeout() async throws {
        let server = try RawServer { connection in
            guard let head = connection.readHead() else { return }
            connection.respond("\(connection.readBody(of: head).count)")
        }
        let record = try await run(.put, on: server)
        #expect(String(decoding: record.body, as: UTF8.self) == "100000")
    }
}
