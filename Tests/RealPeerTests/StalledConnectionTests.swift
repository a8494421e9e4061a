import ErrandCore
import ErrandCurl
import ErrandTesting
import ErrandTransport
import Foundation
import TestSupport
import Testing

/// Connections that stay open but deliver nothing more, because the server hangs or the network is gone.
@Suite("Real peers: stalled connections", .limited)
struct StalledConnectionTests {
    private let peers: Peers
    private let transport = CurlTransport()

    init() throws { peers = try Peers.get() }

    private func request(_ target: String, idle: Duration) -> TransportRequest {
        var request = peers.request(.earlyTLS, target)
        request.timeouts.idle = idle
        return request
    }

    /// Opens a connection that later requests reuse.
    private func connect(_ transport: CurlTransport? = nil) async throws {
        let transport = transport ?? self.transport
        let record = try await transport.run(request("/stop?status=200", idle: .seconds(60)))
        #expect(record.error == nil, "\(record.errorText)")
    }

    @Test func requestAfterATimeoutUsesANewConnection() async throws {
        try await connect()
        let stalled = try await transport.run(request("/freeze", idle: .milliseconds(300)))
        #expect(stalled.error?.timeout == .idle, "\(stalled.errorText)")
        let next = try await transport.run(request("/stop?status=200", idle: .seconds(20)))
        #expect(next.error == nil && next.text == "xxxx", "\(next.errorText)")
        #expect(next.end?.timings.reusedConnection == false)
    }

    @Test func requestAfterACancellationUsesANewConnection() async throws {
        try await connect()
        let receiver = RecordingReceiver()
        let transfer = transport.start(
            request("/freeze", idle: .seconds(60)), receiver: receiver)
        // Waits until a request over another transport times out.
        let other = try await CurlTransport().run(
            request("/freeze", idle: .milliseconds(1500)))
        #expect(other.error?.timeout == .idle, "\(other.errorText)")
        transfer.cancel()
        #expect(try await receiver.ended().error?.code == .cancelled)
        let next = try await transport.run(request("/stop?status=200", idle: .seconds(20)))
        #expect(next.error == nil && next.text == "xxxx", "\(next.errorText)")
    }

    /// When one request times out, the others that may be replayed are retried on a new connection.
    @Test func otherRequestsAreRetriedOnANewConnection() async throws {
        try await connect()
        let impatient = RecordingReceiver()
        _ = transport.start(request("/freeze", idle: .seconds(1)), receiver: impatient)
        let patient = Array(
            repeating: request("/stop?status=200", idle: .seconds(60)), count: 5)
        let records = try await transport.run(all: patient)
        #expect(records.allSatisfy { $0.error == nil && $0.text == "xxxx" })
        let finished = records.compactMap { $0.end?.timings.finished }
        #expect(finished.allSatisfy { $0 < .seconds(50) })
        #expect(try await impatient.ended().error?.timeout == .idle)
    }

    /// A request that may not be replayed keeps its connection: the server may only be slow.
    @Test func requestThatMayNotBeReplayedKeepsItsConnection() async throws {
        // The next request waits until PING was acknowledged, instead of opening a connection.
        let transport = CurlTransport { $0.connectionsPerHost = 1 }
        try await connect(transport)
        var post = peers.request(
            .earlyTLS, method: .post, "/stop?status=200&late=2000&silent",
            body: .stream { AsyncStream<Data> { _ in } })
        post.timeouts.idle = .seconds(60)
        let upload = RecordingReceiver()
        let transfer = transport.start(post, receiver: upload)
        let impatient = try await transport.run(
            request("/stop?status=200&late=10", idle: .milliseconds(300)))
        #expect(impatient.error?.timeout == .idle, "\(impatient.errorText)")
        let next = try await transport.run(request("/stop?status=200", idle: .seconds(20)))
        #expect(next.error == nil, "\(next.errorText)")
        #expect(next.end?.timings.reusedConnection == true)
        #expect(upload.record.end == nil)
        transfer.cancel()
        #expect(try await upload.ended().error?.code == .cancelled)
    }
}
