import ErrandCore
import ErrandTesting
import Foundation
import Testing

/// Heads come through whole, once, and interim ones before them.
@Suite("Contract: answer heads", .timeLimit(.minutes(5)))
struct AnswerHeadContract {
    @Test(arguments: Subject.wire, [200, 201, 299, 404, 418, 500, 599])
    func statusComesThrough(subject: Subject, status: Int) async throws {
        try await ContractWorld.with(subject) { world async throws in
            world.server.otherwise { _ in LoopbackAnswer(status: status, body: "text") }
            let record = try await world.succeed(world.request())
            #expect(record.head?.status.code == status)
            #expect(record.head?.contentLength == 4)
            #expect(record.body == Data("text".utf8))
        }
    }

    @Test(arguments: Subject.wire, [204, 304])
    func someHaveNoBody(subject: Subject, status: Int) async throws {
        try await ContractWorld.with(subject) { world async throws in
            world.server.otherwise { _ in
                LoopbackAnswer(steps: [
                    .head(status: status, headers: [LoopbackHeader("ETag", "\"v\"")])
                ])
            }
            for _ in 0..<2 {
                let record = try await world.succeed(world.request())
                #expect(record.head?.status.code == status)
                #expect(record.head?.headers[.eTag] == "\"v\"")
                #expect(record.received == 0)
            }
        }
    }

    @Test(arguments: Subject.wire)
    func headersComeThrough(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            world.server.otherwise { _ in
                LoopbackAnswer(headers: [
                    "content-type": "text/plain; charset=utf-8", "X-Empty": "", "X-Text": "grün",
                    "X-Spaces": "a  b",
                ])
            }
            let headers = try #require(try await world.succeed(world.request()).head).headers
            #expect(headers[.contentType] == "text/plain; charset=utf-8")
            #expect(HTTPField.Name("X-Empty").map { headers[$0] } == "")
            #expect(HTTPField.Name("x-spaces").flatMap { headers[$0] } == "a  b")
            #expect(HTTPField.Name("x-text").flatMap { headers[$0] } == "grün")
        }
    }

    @Test(arguments: Subject.wire)
    func repeatedHeadersComeThrough(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            let cookies = [
                "a=1; Expires=Wed, 21 Oct 2037 07:28:00 GMT; Path=/", "b=2; HttpOnly", "c=3",
            ]
            world.server.otherwise { _ in
                LoopbackAnswer(headers: [
                    "Set-Cookie": cookies[0], "Vary": "Accept", "Set-Cookie": cookies[1],
                    "Vary": "Cookie", "Set-Cookie": cookies[2],
                ])
            }
            let headers = try #require(try await world.succeed(world.request()).head).headers
            #expect(headers[fields: .setCookie].map(\.value) == cookies)
            #expect(headers[.vary] == "Accept, Cookie")
        }
    }

    @Test(arguments: Subject.wire(with: .repeatedResponseHeaders))
    func orderAndCaseAreKept(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            world.server.otherwise { _ in
                LoopbackAnswer(headers: ["x-B": "1", "X-a": "2", "x-b": "3"])
            }
            let headers = try #require(try await world.succeed(world.request()).head).headers
            #expect(headers.prefix(3).map(\.name.rawName) == ["x-B", "X-a", "x-b"])
            #expect(headers.prefix(3).map(\.value) == ["1", "2", "3"])
        }
    }

    @Test(arguments: Subject.wire)
    func interimAnswersComeBefore(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            world.server.otherwise { _ in
                LoopbackAnswer(body: "last")
                    .preceded(byInterim: 103, headers: ["Link": "</a.css>"])
                    .preceded(byInterim: 100)
            }
            let record = try await world.succeed(world.request())
            #expect(record.head?.status.code == 200)
            #expect(record.informational.map(\.status.code) == [100, 103])
            #expect(record.body == Data("last".utf8))
        }
    }

    @Test(arguments: Subject.wire)
    func interimAnswersAreNotEndless(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            let interim = String(repeating: "HTTP/1.1 103 Early Hints\r\n\r\n", count: 5000)
            world.server.otherwise { _ in
                .raw(interim + "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            }
            let record = try await world.fail(world.request(), .badServerResponse)
            #expect(record.informational.count == 64)
        }
    }

    /// Nobody asks for another protocol.
    @Test(arguments: Subject.wire)
    func protocolsAreNotSwitched(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            let gate = Gate()
            let head =
                "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"
            world.server.otherwise { _ in
                LoopbackAnswer(steps: [.bytes(Data(head.utf8)), .hold(gate)])
            }
            let record = try await world.fail(world.request(), .badServerResponse)
            #expect(record.informational.isEmpty && record.head == nil)
            gate.open()
        }
    }

    @Test(arguments: Subject.wire)
    func interimAnswersMayComeLongBefore(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            let gate = Gate()
            world.server.otherwise { _ in
                LoopbackAnswer(body: "x").held(by: gate).preceded(byInterim: 103)
            }
            let receiver = world.start(world.request()).receiver
            try await receiver.until { !$0.informational.isEmpty }
            #expect(receiver.record.head == nil)
            gate.open()
            _ = try await receiver.ended()
        }
    }

    @Test(arguments: Subject.wire)
    func headComesBeforeTheBody(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            let gate = Gate()
            world.play([.head, .hold(gate), .bytes(Data("x".utf8))])
            let receiver = world.start(world.request()).receiver
            #expect(try await receiver.headCame().status.code == 200)
            gate.open()
            #expect(try await receiver.ended().body == Data("x".utf8))
        }
    }

    @Test(arguments: Subject.wire)
    func largeHeadsComeThrough(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            let value = String(repeating: "v", count: 60_000)
            world.server.otherwise { _ in
                LoopbackAnswer(headers: ["X-Large": value, "X-Small": "s"])
            }
            let headers = try #require(try await world.succeed(world.request()).head).headers
            #expect(HTTPField.Name("X-Large").flatMap { headers[$0] } == value)
            #expect(HTTPField.Name("X-Small").flatMap { headers[$0] } == "s")
        }
    }

    @Test(arguments: Subject.wire)
    func headsHaveALimit(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            world.server.otherwise { _ in
                LoopbackAnswer(headers: ["X-A": String(repeating: "v", count: 5000)])
            }
            var request = world.request()
            request.options.maximumHeadBytes = 4096
            try await world.fail(request, .badServerResponse)
            request.options.maximumHeadBytes = 8192
            _ = try await world.succeed(request)
        }
    }

    @Test(arguments: Subject.wire(with: .versionAndAddress))
    func versionAndAddressAreTold(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            world.server.otherwise { _ in LoopbackAnswer() }
            let head = try await world.succeed(world.request()).head
            #expect(head?.httpVersion == .http11)
            #expect(head?.remoteAddress == "127.0.0.1:\(world.server.port)")
        }
    }
}
