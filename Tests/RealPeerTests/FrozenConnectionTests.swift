import ErrandCore
import ErrandCurl
import ErrandTesting
import Foundation
import Testing

/// A server that hangs, or a network that is gone: the connection stays open, and nothing comes over it any more.
@Suite("Real peers: frozen connections", .timeLimit(.minutes(3)))
struct FrozenConnectionTests {
    private let peers: Peers
    private let transport = CurlTransport()

    init() throws { peers = try Peers.get() }

    private func request(_ target: String, idle: Duration) -> TransportRequest {
        var request = peers.request(.earlyTLS, target)
        request.timeouts.idle = idle
        return request
    }

    /// A first request, so that there is a connection to share.
    private func connect() async throws {
        let record = try await transport.run(request("/stop?status=200", idle: .seconds(60)))
        #expect(record.error == nil, "\(record.trouble)")
    }

    @Test func theNextRequestFindsAnother() async throws {
        try await connect()
        let frozen = try await transport.run(request("/freeze", idle: .milliseconds(300)))
        #expect(frozen.error?.timeout == .idle, "\(frozen.trouble)")
        let next = try await transport.run(request("/stop?status=200", idle: .seconds(20)))
        #expect(next.error == nil && next.text == "xxxx", "\(next.trouble)")
        #expect(next.end?.timings.reusedConnection == false)
    }

    @Test func theNextRequestFindsAnotherAfterACancellation() async throws {
        try await connect()
        let receiver = RecordingReceiver()
        let transfer = transport.start(
            request("/freeze", idle: .seconds(60)), receiver: receiver)
        // As long as it takes another one to give up.
        let other = try await CurlTransport().run(request("/freeze", idle: .milliseconds(1500)))
        #expect(other.error?.timeout == .idle, "\(other.trouble)")
        transfer.cancel()
        #expect(try await receiver.ended().error?.code == .cancelled)
        let next = try await transport.run(request("/stop?status=200", idle: .seconds(20)))
        #expect(next.error == nil && next.text == "xxxx", "\(next.trouble)")
    }

    /// Who waits there and may be sent again goes on elsewhere, as soon as one has given up.
    @Test func theOthersGoOn() async throws {
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

    /// Who waits there and may not be sent again is left alone: the server may only be slow.
    @Test func whoCannotBeRepeatedStays() async throws {
        try await connect()
        var post = peers.request(
            .earlyTLS, method: .post, "/stop?status=200&late=2000&silent",
            body: .stream { AsyncStream<Data> { _ in } })
        post.timeouts.idle = .seconds(60)
        let tied = RecordingReceiver()
        let transfer = transport.start(post, receiver: tied)
        let impatient = try await transport.run(
            request("/stop?status=200&late=10", idle: .milliseconds(300)))
        #expect(impatient.error?.timeout == .idle, "\(impatient.trouble)")
        let next = try await transport.run(request("/stop?status=200", idle: .seconds(20)))
        #expect(next.error == nil, "\(next.trouble)")
        #expect(next.end?.timings.reusedConnection == true)
        #expect(tied.record.end == nil)
        transfer.cancel()
        #expect(try await tied.ended().error?.code == .cancelled)
    }
}
