import ErrandCore
import ErrandTesting
import ErrandTransport
import Foundation
import Synchronization
import TestSupport
import Testing

/// A loopback server and a transport, with checks that apply to every transfer between them.
final class ContractFixture: Sendable {
    let server: LoopbackServer
    let kind: TransportKind
    let transport: any Transport
    private let receivers: Receivers

    /// The receivers of all started transfers; each must get exactly one end.
    private final class Receivers: Sendable {
        private let all = Mutex<[RecordingReceiver]>([])
        func append(_ receiver: RecordingReceiver) { all.withLock { $0.append(receiver) } }
        var list: [RecordingReceiver] { all.withLock { $0 } }
    }

    private init(_ kind: TransportKind, _ server: LoopbackServer, _ receivers: Receivers) {
        self.kind = kind
        self.server = server
        self.receivers = receivers
        transport = kind.makeTransport()
    }

    /// Runs a test with a new fixture, shuts down the transport, and checks that every transfer ended exactly once
    /// and that every connection is closed.
    static func with(
        _ kind: TransportKind, _ body: (ContractFixture) async throws -> Void,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let server = LoopbackServer()
        let receivers = Receivers()
        try await server.start()
        do {
            // `runTest` shuts down the transport and releases it, which closes its connections.
            try await runTest(ContractFixture(kind, server, receivers), body)
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

    private static func runTest(
        _ fixture: ContractFixture, _ body: (ContractFixture) async throws -> Void
    ) async throws {
        defer { fixture.transport.shutDown() }
        try await body(fixture)
    }

    /// A request to the server.
    func request(
        _ method: HTTPMethod = .get, _ path: String = "/", query: String? = nil,
        headers: HTTPFields = [:], body: HTTPBody? = nil
    ) -> TransportRequest {
        let url = HTTPURL(
            scheme: "http", host: "127.0.0.1", port: server.port, path: path, query: query)
        var request = TransportRequest(method: method, url: url, headers: headers, body: body)
        request.options.mayReplay = method.isIdempotent
        return request
    }

    /// A request to another port on loopback.
    func request(port: Int) -> TransportRequest {
        TransportRequest(url: HTTPURL(scheme: "http", host: "127.0.0.1", port: port, path: "/"))
    }

    @discardableResult
    func start(
        _ request: TransportRequest, _ receiver: RecordingReceiver = RecordingReceiver()
    ) -> (transfer: any Transfer, receiver: RecordingReceiver) {
        receivers.append(receiver)
        return (transport.start(request, receiver: receiver), receiver)
    }

    /// Runs a request and waits for its end.
    func run(_ request: TransportRequest) async throws -> RecordingReceiver.Record {
        try await start(request).receiver.ended()
    }

    /// Runs a request that must succeed.
    func succeed(
        _ request: TransportRequest, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> RecordingReceiver.Record {
        let record = try await run(request)
        #expect(record.end?.error == nil, sourceLocation: sourceLocation)
        return record
    }

    /// Runs a request that must fail with one of `codes`.
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

// MARK: - Responses for all transports

/// A part of a response that both `LoopbackServer` and `ScriptedTransport` can send.
enum ResponsePart: Sendable {
    case head
    case bytes(Data)
    case hold(Gate)
}

extension ContractFixture {
    /// Uses these parts as the response to every request.
    func respond(with parts: [ResponsePart]) {
        if let script = transport as? ScriptedTransport {
            let response = ScriptedResponse(
                steps: parts.map { part in
                    switch part {
                    case .head: .head(ResponseHead(status: .ok))
                    case .bytes(let data): .bytes(data)
                    case .hold(let gate): .hold(gate)
                    }
                })
            return script.on(nil, nil, response)
        }
        let response = LoopbackResponse(
            steps: parts.map { part in
                switch part {
                case .head:
                    .head(status: 200, headers: [LoopbackHeader("Transfer-Encoding", "chunked")])
                case .bytes(let data): .body(LoopbackResponse.chunk(data))
                case .hold(let gate): .hold(gate)
                }
            } + [.body(Data("0\r\n\r\n".utf8))])
        server.otherwise { _ in response }
    }
}

/// Deterministic bytes that differ from block to block.
func pattern(_ count: Int) -> Data {
    let block = Data((0..<4088).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 3) })
    var bytes = Data(capacity: count + 4096)
    while bytes.count < count {
        withUnsafeBytes(of: UInt64(bytes.count)) { bytes.append(contentsOf: $0) }
        bytes.append(block)
    }
    return bytes.prefix(count)
}
