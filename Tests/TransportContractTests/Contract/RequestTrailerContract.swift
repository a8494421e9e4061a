import ErrandCore
import ErrandTesting
import ErrandTransport
import Foundation
import Synchronization
import TestSupport
import Testing

/// Trailers follow the body in the chunked coding and are announced (RFC 9110 §6.5, RFC 9112 §7.1.2).
@Suite("Contract: request trailers", .limited)
struct RequestTrailerContract {
    private static let kinds = TransportKind.wire(with: .requestTrailers)

    /// The body with the sum of its bytes as a trailer.
    private func summed(_ body: HTTPBody) -> HTTPBody {
        body.trailers([.custom("X-Sum"), .custom("X-Empty"), .custom("X-Missing")], into: 0) {
            sum, bytes in
            for byte in bytes { sum += Int(byte) }
        } fields: { sum in
            [.custom("X-Sum"): "\(sum)", .custom("X-Empty"): "", .custom("x-sum"): "again"]
        }
    }

    private func sum(_ data: Data) -> String { "\(data.reduce(0) { $0 + Int($1) })" }

    private func check(
        _ request: LoopbackRequest?, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(request?.isComplete == true, sourceLocation: sourceLocation)
        #expect(
            request?.values(of: "Trailer") == ["X-Sum, X-Empty, X-Missing"],
            sourceLocation: sourceLocation)
        #expect(
            request?.values(of: "Transfer-Encoding") == ["chunked"], sourceLocation: sourceLocation)
        #expect(request?.header("Content-Length") == nil, sourceLocation: sourceLocation)
        #expect(
            request?.trailers == [
                LoopbackHeader("X-Sum", sum(request?.body ?? Data())),
                LoopbackHeader("X-Empty", ""),
                LoopbackHeader("x-sum", "again"),
            ], sourceLocation: sourceLocation)
    }

    @Test(arguments: kinds)
    func trailersFollowEveryKindOfBody(kind: TransportKind) async throws {
        let file = FileManager.default.temporaryDirectory
            .appendingPathComponent("errand-\(UUID().uuidString)")
        let bytes = pattern(300_000)
        try bytes.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let stream = HTTPBody.stream {
            AsyncStream<Data> { continuation in
                for _ in 0..<3 { continuation.yield(pattern(30_000)) }
                continuation.finish()
            }
        }
        let parts = HTTPBody.multipart([.text("a", "b"), .file("c", file)])
        let bodies: [HTTPBody] = [
            .data(bytes), .data(Data()), .string("x"), .file(file), stream, parts,
        ]
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.server.otherwise { _ in LoopbackResponse(status: 201) }
            for body in bodies {
                let request = fixture.request(.post, body: summed(body))
                try fixture.transport.check(request)
                let record = try await fixture.succeed(request)
                #expect(record.head?.status.code == 201)
                let received = fixture.server.requests.last
                check(received)
                #expect(record.sent == Int64(received?.bodyBytes ?? -1))
                // The connection can be used again, by a request without trailers.
                _ = try await fixture.succeed(fixture.request(.post, body: .string("plain")))
                #expect(fixture.server.requests.last?.header("Trailer") == nil)
                #expect(fixture.server.requests.last?.header("Content-Length") == "5")
            }
            #expect(fixture.server.status.accepted == 1)
        }
    }

    @Test(arguments: kinds)
    func announcementReplacesAHeaderOfTheRequest(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.server.otherwise { _ in LoopbackResponse() }
            let request = fixture.request(
                .put, headers: [.trailer: "X-Other", .contentLength: "3"],
                body: summed(.string("abc")))
            _ = try await fixture.succeed(request)
            check(fixture.server.requests.first)
        }
    }

    @Test(arguments: kinds)
    func slowTrailersDoNotBlockOtherTransfers(kind: TransportKind) async throws {
        let gate = Gate()
        let body = HTTPBody.string("abc").trailers([.custom("X-Late")]) {
            try await gate.passed()
            return [.custom("X-Late"): "yes"]
        }
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.server.otherwise { _ in LoopbackResponse() }
            let receiver = fixture.start(fixture.request(.post, body: body)).receiver
            try await gate.reached()
            _ = try await fixture.succeed(fixture.request())
            gate.open()
            #expect(try await receiver.ended().end?.error == nil)
            #expect(fixture.server.requests.last?.body == Data("abc".utf8))
            #expect(fixture.server.requests.last?.trailers == [LoopbackHeader("X-Late", "yes")])
        }
    }

    /// The server must not take the request for complete.
    @Test(arguments: kinds)
    func invalidTrailersFailTheTransfer(kind: TransportKind) async throws {
        struct Broken: Error {}
        let failures: [(RequestError.Code, @Sendable () throws -> HTTPFields)] = [
            (.invalidHeader, { [.custom("X-Unannounced"): "1"] }),
            (.bodyReadFailed, { throw Broken() }),
        ]
        for (code, make) in failures {
            let body = HTTPBody.string("abc").trailers([.custom("X-Sum")]) { try make() }
            try await ContractFixture.with(kind) { fixture async throws in
                fixture.server.otherwise { _ in LoopbackResponse() }
                try await fixture.fail(fixture.request(.post, body: body), code)
                #expect(!fixture.server.requests.contains { $0.isComplete })
            }
        }
    }

    @Test(arguments: kinds)
    func cancellationEndsTheClosure(kind: TransportKind) async throws {
        let gate = Gate()
        let body = HTTPBody.string("abc").trailers([.custom("X-Sum")]) {
            try await gate.passed()
            return [:]
        }
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.server.otherwise { _ in LoopbackResponse() }
            let (transfer, receiver) = fixture.start(fixture.request(.post, body: body))
            try await gate.reached()
            transfer.cancel()
            #expect(try await receiver.ended().end?.error?.code == .cancelled)
        }
    }

    @Test(arguments: TransportKind.wire, ["Content-Length", "Host", "A B", ""])
    func forbiddenNamesAreRefusedBeforeSending(kind: TransportKind, name: String) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            let body = HTTPBody.string("abc").trailers([.custom(name)]) { [:] }
            let error = #expect(throws: RequestError.self) {
                try fixture.transport.check(fixture.request(.post, body: body))
            }
            #expect(error?.code == .invalidHeader && error?.stage == .build)
            #expect(fixture.server.status.accepted == 0)
        }
    }

    @Test func scriptedTransportShowsTheTrailers() async throws {
        let transport = ScriptedTransport()
        transport.on(nil, nil, .json("{}"))
        let url = HTTPURL(scheme: "http", host: "a.example", path: "/")
        let receiver = RecordingReceiver()
        _ = transport.start(
            TransportRequest(method: .put, url: url, body: summed(.string("abc"))),
            receiver: receiver)
        _ = try await receiver.ended()
        let request = try #require(transport.requests.first)
        #expect(request.body?.trailerNames == ["X-Sum", "X-Empty", "X-Missing"])
        let sent = try await request.collectedBodyAndTrailers()
        #expect(sent.body == Data("abc".utf8))
        #expect(sent.trailers.map(\.value) == ["294", "", "again"])
        #expect(try await request.collectedBody() == sent.body)
        let plain = try await TransportRequest(url: url).collectedBodyAndTrailers()
        #expect(plain.body.isEmpty && plain.trailers.isEmpty)
    }
}
