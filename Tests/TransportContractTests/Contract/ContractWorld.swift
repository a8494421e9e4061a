import ErrandCore
import ErrandTesting
import Foundation
import Synchronization
import Testing

/// A server, a transport, and the rules that hold for every exchange between them.
final class ContractWorld: Sendable {
    let server: LoopbackServer
    let subject: Subject
    let transport: any Transport
    private let receivers: Receivers

    /// Everybody who was promised an end.
    private final class Receivers: Sendable {
        private let all = Mutex<[RecordingReceiver]>([])
        func append(_ receiver: RecordingReceiver) { all.withLock { $0.append(receiver) } }
        var list: [RecordingReceiver] { all.withLock { $0 } }
    }

    private init(_ subject: Subject, _ server: LoopbackServer, _ receivers: Receivers) {
        self.subject = subject
        self.server = server
        self.receivers = receivers
        transport = subject.makeTransport()
    }

    /// Runs a test in a world of its own, then takes the world down and looks whether every transfer had
    /// exactly one end and every connection is gone.
    static func with(
        _ subject: Subject, _ body: (ContractWorld) async throws -> Void,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let server = LoopbackServer()
        let receivers = Receivers()
        try await server.start()
        do {
            // The transport is gone behind this line: connections are kept no longer than it.
            try await live(ContractWorld(subject, server, receivers), body)
            for receiver in receivers.list {
                let record = try await receiver.ended()
                #expect(record.ends == 1, sourceLocation: sourceLocation)
                #expect(record.violations.isEmpty, sourceLocation: sourceLocation)
            }
            try await server.until { $0.open == 0 }
        } catch {
            await server.stop()
            throw error
        }
        await server.stop()
    }

    private static func live(
        _ world: ContractWorld, _ body: (ContractWorld) async throws -> Void
    ) async throws {
        defer { world.transport.shutDown() }
        try await body(world)
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
        receivers.append(receiver)
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
    let block = Data((0..<4088).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 3) })
    var bytes = Data(capacity: count + 4096)
    while bytes.count < count {
        withUnsafeBytes(of: UInt64(bytes.count)) { bytes.append(contentsOf: $0) }
        bytes.append(block)
    }
    return bytes.prefix(count)
}
