import ErrandCore
import ErrandTesting
import Foundation
import Synchronization
import Testing

/// A server, a transport, and the rules that hold for every exchange between them.
final class ContractWorld: Sendable {
    let server = LoopbackServer()
    let subject: Subject
    let transport: any Transport
    private let receivers = Mutex<[RecordingReceiver]>([])

    private init(_ subject: Subject) {
        self.subject = subject
        transport = subject.makeTransport()
    }

    /// Runs a test in a world of its own, then takes the world down and looks whether every transfer had
    /// exactly one end and every connection is gone.
    static func with(
        _ subject: Subject, _ body: (ContractWorld) async throws -> Void,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let world = ContractWorld(subject)
        try await world.server.start()
        do {
            try await body(world)
        } catch {
            world.transport.shutDown()
            await world.server.stop()
            throw error
        }
        world.transport.shutDown()
        for receiver in world.receivers.withLock({ $0 }) {
            let record = try await receiver.ended()
            #expect(record.ends == 1, sourceLocation: sourceLocation)
            #expect(record.violations.isEmpty, sourceLocation: sourceLocation)
        }
        try await world.server.until { $0.open == 0 }
        await world.server.stop()
    }

    /// A request to the server.
    func request(
        _ method: HTTPMethod = .get, _ path: String = "/", query: String? = nil,
        headers: HTTPFields = [:], body: HTTPBody? = nil
    ) -> TransportRequest {
        let url = URI(
            scheme: "http", host: "127.0.0.1", port: server.port, path: path, query: query)
        var request = TransportRequest(method: method, url: url, headers: headers, body: body)
        request.options.mayReplay = method.isIdempotent
        return request
    }

    /// A request to a port of this machine where something else is, or nothing.
    func request(port: Int) -> TransportRequest {
        TransportRequest(url: URI(scheme: "http", host: "127.0.0.1", port: port, path: "/"))
    }

    @discardableResult
    func start(
        _ request: TransportRequest, _ receiver: RecordingReceiver = RecordingReceiver()
    ) -> (transfer: any Transfer, receiver: RecordingReceiver) {
        receivers.withLock { $0.append(receiver) }
        return (transport.start(request, receiver: receiver), receiver)
    }

    /// Carries out a request and waits for its end.
    func run(_ request: TransportRequest) async throws -> RecordingReceiver.Record {
        try await start(request).receiver.ended()
    }

    /// Carries out a request that must succeed.
    func succeed(
        _ request: TransportRequest, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> RecordingReceiver.Record {
        let record = try await run(request)
        #expect(record.end?.error == nil, sourceLocation: sourceLocation)
        return record
    }

    /// Carries out a request that must fail for one of these reasons.
    @discardableResult
    func fail(
        _ request: TransportRequest, _ codes: RequestError.Code...,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> RecordingReceiver.Record {
        let record = try await run(request)
        let code = record.end?.error?.code
        #expect(
            code.map(codes.contains) == true,
            "ended with \(record.end?.error?.description ?? "success")",
            sourceLocation: sourceLocation)
        return record
    }
}

// MARK: - Answers for all transports

/// A piece of an answer that both a server and a script can play.
enum Piece: Sendable {
    case head
    case bytes(Data)
    case hold(Gate)
}

extension ContractWorld {
    /// Answers every request by these pieces.
    func play(_ pieces: [Piece]) {
        if let script = transport as? ScriptedTransport {
            let answer = ScriptedAnswer(
                steps: pieces.map { piece in
                    switch piece {
                    case .head: .head(ResponseHead(status: .ok))
                    case .bytes(let data): .bytes(data)
                    case .hold(let gate): .hold(gate)
                    }
                })
            return script.on(nil, nil, answer)
        }
        let answer = LoopbackAnswer(
            steps: pieces.map { piece in
                switch piece {
                case .head:
                    .head(status: 200, headers: [LoopbackHeader("Transfer-Encoding", "chunked")])
                case .bytes(let data): .body(LoopbackAnswer.chunk(data))
                case .hold(let gate): .hold(gate)
                }
            } + [.body(Data("0\r\n\r\n".utf8))])
        server.otherwise { _ in answer }
    }
}

/// Bytes that are the same in every run, and unlike each other at different places.
func pattern(_ count: Int) -> Data {
    var state: UInt32 = 0x2545_F491
    var bytes = [UInt8](repeating: 0, count: count)
    for index in bytes.indices {
        state = state &* 1_664_525 &+ 1_013_904_223
        bytes[index] = UInt8(truncatingIfNeeded: state >> 24)
    }
    return Data(bytes)
}
