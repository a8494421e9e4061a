import ErrandCore
import ErrandCurl
import ErrandTesting
import ErrandTransport
import TestSupport
import Testing

/// Servers that send DATA frames without content.
@Suite("Real peers: empty DATA frames", .limited)
struct EmptyDataFrameTests {
    private let peers: Peers
    init() throws { peers = try Peers.get() }

    /// Empty DATA frames without end close their connection (RFC 9113 §10.5), and do not delay the deadlines of the event
    /// loop.
    @Test func emptyDataFramesWithoutEndAreRefused() async throws {
        let transport = CurlTransport()
        var flooded = peers.request(.earlyTLS, "/flood")
        flooded.timeouts.idle = .seconds(15)
        var silent = peers.request(.earlyTLS, host: "http11.errand.test", "/")
        silent.options.security = .insecureForTests
        silent.timeouts.idle = .milliseconds(1500)
        async let other = transport.run(silent)
        let record = try await transport.run(flooded)
        #expect(record.head?.status == .ok)
        #expect(record.error?.code == .badServerResponse, "\(record.errorText)")
        #expect(record.error?.message.contains("ENHANCE_YOUR_CALM") == true, "\(record.errorText)")
        // The flood lasts for twenty seconds.
        #expect((record.end?.timings.finished ?? .zero) < .seconds(10))
        let otherRecord = try await other
        #expect(otherRecord.error?.timeout == .idle, "\(otherRecord.errorText)")
        #expect((otherRecord.end?.timings.finished ?? .zero) < .seconds(10))
    }
}
