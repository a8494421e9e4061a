import ErrandCurl
import ErrandTesting
import ErrandTransport
import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing

/// The ends of a TLS connection that a receiver has taken over after 101.
@Suite("Real peers: 101 over TLS", .limited)
struct SwitchedConnectionTests {
    private let peers: Peers
    private let transport = CurlTransport()

    init() throws { peers = try Peers.get() }

    private func request(_ path: String) -> TransportRequest {
        var request = peers.request(.earlyTLS, host: "http11-switches.errand.test", path)
        request.headers[.upgrade] = "echo"
        request.headers[.connection] = "upgrade"
        request.options.httpVersion = .http11
        request.options.security = .insecureForTests
        return request
    }

    /// Data may be missing before an end without close_notify (RFC 8446 §6.1).
    @Test(arguments: [true, false])
    func endWithoutCloseNotifyFails(pauses: Bool) async throws {
        let owner = RecordingOwner()
        if pauses { owner.demand.withLock { $0 = .pause } }
        let transfer = transport.start(request("/ends"), receiver: owner)
        if pauses {
            _ = try await owner.until { !$0.input.isEmpty || !$0.ends.isEmpty }
            owner.demand.withLock { $0 = .more }
            transfer.resumeReceiving()
        }
        let record = try await owner.until { $0.hasInputEnded || !$0.ends.isEmpty }
        #expect(record.heads.map(\.status.code) == [101])
        #expect(record.input == Data("hello".utf8) && !record.hasInputEnded)
        #expect(record.ends.count == 1)
        let error = try #require(record.ends.first?.error)
        #expect(error.code == .truncatedBody, "\(error)")
        #expect(error.message.contains("close_notify"), "\(error)")
    }

    @Test func endWithCloseNotifyIsAnEnd() async throws {
        let owner = RecordingOwner()
        _ = transport.start(request("/ends-properly"), receiver: owner)
        var record = try await owner.until { $0.hasInputEnded || !$0.ends.isEmpty }
        #expect(record.input == Data("hello".utf8))
        // The client's direction is still open.
        #expect(record.ends.isEmpty)
        owner.sending.finish()
        record = try await owner.until { !$0.ends.isEmpty }
        #expect(record.hasInputEnded && record.ends.count == 1)
        #expect(record.ends[0].error == nil, "\(String(describing: record.ends[0].error))")
    }

    /// The end of the output differs from a truncation.
    @Test func endOfTheOutputIsNotified() async throws {
        let owner = RecordingOwner()
        _ = transport.start(request("/listens"), receiver: owner)
        owner.send("output")
        owner.sending.finish()
        let record = try await owner.until { !$0.ends.isEmpty }
        #expect(record.input == Data("hellonotified".utf8))
        #expect(record.hasInputEnded && record.ends.count == 1)
        #expect(record.ends[0].error == nil, "\(String(describing: record.ends[0].error))")
    }

    /// libcurl's BIO must not write outside of a call of libcurl: that ends the process after a reset.
    @Test func endOfTheOutputAfterAResetIsHarmless() async {
        await #expect(processExitsWith: .success) {
            let tests = try SwitchedConnectionTests()
            let source = EndingSource()
            let owner = RecordingOwner(source: source)
            owner.demand.withLock { $0 = .pause }
            let transfer = tests.transport.start(
                tests.request("/resets?token=output"), receiver: owner)
            _ = try await owner.until { !$0.input.isEmpty || !$0.ends.isEmpty }
            // The paused connection has been reset, which the loop does not know yet.
            let reset = try await tests.transport.run(
                tests.peers.request(.earlyTLS, "/reset?token=output"))
            guard reset.body == Data("reset".utf8) else { exit(5) }
            await source.end()
            owner.demand.withLock { $0 = .more }
            transfer.resumeReceiving()
            let record = try await owner.until { !$0.ends.isEmpty }
            guard record.ends.map(\.error?.code) == [.connectionLost] else { exit(6) }
        }
    }
}
