import ErrandCore
import ErrandTesting
import ErrandTransport
import Foundation
import TestSupport
import Testing

/// Transports report each response head once and complete, and interim responses before it.
@Suite("Contract: response heads", .limited)
struct ResponseHeadContract {
    @Test(arguments: TransportKind.wire, [200, 201, 299, 404, 418, 500, 599])
    func statusCodeIsReported(kind: TransportKind, status: Int) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.server.otherwise { _ in LoopbackResponse(status: status, body: "text") }
            let record = try await fixture.succeed(fixture.request())
            #expect(record.head?.status.code == status)
            #expect(record.head?.contentLength == 4)
            #expect(record.body == Data("text".utf8))
        }
    }

    @Test(arguments: TransportKind.wire, [204, 304])
    func responsesWithoutContentHaveEmptyBodies(kind: TransportKind, status: Int) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.server.otherwise { _ in
                LoopbackResponse(steps: [
                    .head(status: status, headers: [LoopbackHeader("ETag", "\"v\"")])
                ])
            }
            for _ in 0..<2 {
                let record = try await fixture.succeed(fixture.request())
                #expect(record.head?.status.code == status)
                #expect(record.head?.headers[.eTag] == "\"v\"")
                #expect(record.received == 0)
            }
        }
    }

    @Test(arguments: TransportKind.wire)
    func headersAreReported(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.server.otherwise { _ in
                LoopbackResponse(headers: [
                    "content-type": "text/plain; charset=utf-8", "X-Empty": "", "X-Text": "grün",
                    "X-Spaces": "a  b",
                ])
            }
            let headers = try #require(try await fixture.succeed(fixture.request()).head).headers
            #expect(headers[.contentType] == "text/plain; charset=utf-8")
            #expect(HTTPField.Name("X-Empty").map { headers[$0] } == "")
            #expect(HTTPField.Name("x-spaces").flatMap { headers[$0] } == "a  b")
            #expect(HTTPField.Name("x-text").flatMap { headers[$0] } == "grün")
        }
    }

    @Test(arguments: TransportKind.wire)
    func repeatedHeadersAreReported(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            let cookies = [
                "a=1; Expires=Wed, 21 Oct 2037 07:28:00 GMT; Path=/", "b=2; HttpOnly", "c=3",
            ]
            fixture.server.otherwise { _ in
                LoopbackResponse(headers: [
                    "Set-Cookie": cookies[0], "Vary": "Accept", "Set-Cookie": cookies[1],
                    "Vary": "Cookie", "Set-Cookie": cookies[2],
                ])
            }
            let headers = try #require(try await fixture.succeed(fixture.request()).head).headers
            #expect(headers[fields: .setCookie].map(\.value) == cookies)
            #expect(headers[.vary] == "Accept, Cookie")
        }
    }

    @Test(arguments: TransportKind.wire(with: .repeatedResponseHeaders))
    func headerOrderAndCaseArePreserved(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.server.otherwise { _ in
                LoopbackResponse(headers: ["x-B": "1", "X-a": "2", "x-b": "3"])
            }
            let headers = try #require(try await fixture.succeed(fixture.request()).head).headers
            #expect(headers.prefix(3).map(\.name.rawName) == ["x-B", "X-a", "x-b"])
            #expect(headers.prefix(3).map(\.value) == ["1", "2", "3"])
        }
    }

    @Test(arguments: TransportKind.wire)
    func interimResponsesPrecedeTheFinalResponse(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.server.otherwise { _ in
                LoopbackResponse(body: "last")
                    .preceded(byInterim: 103, headers: ["Link": "</a.css>"])
                    .preceded(byInterim: 100)
            }
            let record = try await fixture.succeed(fixture.request())
            #expect(record.head?.status.code == 200)
            #expect(record.informational.map(\.status.code) == [100, 103])
            #expect(record.body == Data("last".utf8))
        }
    }

    @Test(arguments: TransportKind.wire)
    func tooManyInterimResponsesFail(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            let interim = String(repeating: "HTTP/1.1 103 Early Hints\r\n\r\n", count: 5000)
            fixture.server.otherwise { _ in
                .raw(interim + "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            }
            let record = try await fixture.fail(fixture.request(), .badServerResponse)
            #expect(record.informational.count == 64)
        }
    }

    /// No request offers `Upgrade`, so 101 is an invalid response (RFC 9110 §15.2.2).
    @Test(arguments: TransportKind.wire)
    func switchingProtocolsFails(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            let gate = Gate()
            let head =
                "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"
            fixture.server.otherwise { _ in
                LoopbackResponse(steps: [.bytes(Data(head.utf8)), .hold(gate)])
            }
            let record = try await fixture.fail(fixture.request(), .badServerResponse)
            #expect(record.informational.isEmpty && record.head == nil)
            gate.open()
        }
    }

    @Test(arguments: TransportKind.wire)
    func interimResponseIsReportedBeforeTheFinalResponseArrives(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            let gate = Gate()
            fixture.server.otherwise { _ in
                LoopbackResponse(body: "x").held(by: gate).preceded(byInterim: 103)
            }
            let receiver = fixture.start(fixture.request()).receiver
            try await receiver.until { !$0.informational.isEmpty }
            #expect(receiver.record.head == nil)
            gate.open()
            _ = try await receiver.ended()
        }
    }

    @Test(arguments: TransportKind.wire)
    func headIsReportedBeforeTheBodyArrives(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            let gate = Gate()
            fixture.respond(with: [.head, .hold(gate), .bytes(Data("x".utf8))])
            let receiver = fixture.start(fixture.request()).receiver
            #expect(try await receiver.headCame().status.code == 200)
            gate.open()
            #expect(try await receiver.ended().body == Data("x".utf8))
        }
    }

    @Test(arguments: TransportKind.wire)
    func largeHeadersAreReported(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            let value = String(repeating: "v", count: 60_000)
            fixture.server.otherwise { _ in
                LoopbackResponse(headers: ["X-Large": value, "X-Small": "s"])
            }
            let headers = try #require(try await fixture.succeed(fixture.request()).head).headers
            #expect(HTTPField.Name("X-Large").flatMap { headers[$0] } == value)
            #expect(HTTPField.Name("X-Small").flatMap { headers[$0] } == "s")
        }
    }

    @Test(arguments: TransportKind.wire)
    func headAboveMaximumHeadBytesFails(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.server.otherwise { _ in
                LoopbackResponse(headers: ["X-A": String(repeating: "v", count: 5000)])
            }
            var request = fixture.request()
            request.options.maximumHeadBytes = 4096
            try await fixture.fail(request, .badServerResponse)
            request.options.maximumHeadBytes = 8192
            _ = try await fixture.succeed(request)
        }
    }

    @Test(arguments: TransportKind.wire(with: .versionAndAddress))
    func versionAndPeerAddressAreReported(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.server.otherwise { _ in LoopbackResponse() }
            let head = try await fixture.succeed(fixture.request()).head
            #expect(head?.httpVersion == .http11)
            #expect(head?.remoteAddress == "127.0.0.1:\(fixture.server.port)")
        }
    }
}
