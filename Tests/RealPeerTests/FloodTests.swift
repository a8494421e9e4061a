import ErrandCore
import ErrandCurl
import ErrandTesting
import Testing

/// Servers that never fall silent, and say nothing.
@Suite("Real peers: floods", .timeLimit(.minutes(1)))
struct FloodTests {
    private let peers: Peers
    init() throws { peers = try Peers.get() }

    /// Empty DATA frames are no progress, and do not keep the loop from its deadlines.
    @Test func emptyFrames() async throws {
        let transport = CurlTransport()
        var flooded = peers.request(.earlyTLS, "/flood")
        flooded.timeouts.idle = .milliseconds(500)
        var silent = peers.request(.earlyTLS, host: "http11.errand.test", "/")
        silent.options.security = .insecureForTests
        silent.timeouts.idle = .milliseconds(1500)
        async let other = transport.run(silent)
        let record = try await transport.run(flooded)
        #expect(record.head?.status == .ok)
        #expect(record.error?.timeout == .idle, "\(record.trouble)")
        // The flood lasts for twenty seconds.
        #expect((record.end?.timings.finished ?? .zero) < .seconds(10))
        let otherRecord = try await other
        #expect(otherRecord.error?.timeout == .idle, "\(otherRecord.trouble)")
        #expect((otherRecord.end?.timings.finished ?? .zero) < .seconds(10))
    }
}
