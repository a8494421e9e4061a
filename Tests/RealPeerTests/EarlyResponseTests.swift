import ErrandCore
import ErrandCurl
import ErrandTesting
import ErrandTransport
import Foundation
import TestSupport
import Testing

/// Servers that respond to a large upload before they have read it.
///
/// The response counts, not the failed upload.
@Suite("Real peers: early responses", .limited)
struct EarlyResponseTests {
    private let peers: Peers
    init() throws { peers = try Peers.get() }

    /// An idle timeout that no early response may reach.
    private static let longIdle = Duration.seconds(50)
    /// An idle timeout that ends an upload after an early success, whose head must arrive before.
    private static let shortIdle = Duration.seconds(4)

    private func body(_ kind: String) -> HTTPBody {
        let chunk = Data(repeating: 5, count: 100_000)
        switch kind {
        case "data": return .data(Data(repeating: 5, count: 4 << 20))
        // More than the server's window but less than libcurl reads at once, so the source is exhausted.
        case "small": return .data(Data(repeating: 5, count: 100_000))
        case "endless":
            return .stream { AsyncStream { $0.yield(chunk) } }
        // The source has no more bytes when the response arrives.
        case "silent":
            return .stream { AsyncStream { $0.yield(chunk.prefix(2000)) } }
        default:
            return .stream {
                AsyncStream { continuation in
                    for _ in 0..<40 { continuation.yield(chunk) }
                    continuation.finish()
                }
            }
        }
    }

    private func run(
        _ target: String, _ kind: String, idle: Duration = Self.longIdle
    ) async throws -> RecordingReceiver.Record {
        var request = peers.request(.earlyTLS, method: .post, target, body: body(kind))
        request.timeouts.idle = idle
        // A new connection: the server does not restore the flow-control window.
        return try await CurlTransport().run(request)
    }

    /// Bytes that trickle into the socket buffer are no progress, so the idle timeout also applies over TLS.
    @Test func uploadThatIsNotReadTimesOutOverHTTP1() async throws {
        var request = peers.request(
            .earlyTLS, host: "http11.errand.test", method: .post, "/",
            body: .data(Data(repeating: 5, count: 20 << 20)))
        request.options.security = .insecureForTests
        request.timeouts.idle = .milliseconds(1500)
        let record = try await CurlTransport().run(request)
        #expect(record.error?.timeout == .idle, "\(record.errorText)")
        // Counting the socket buffer as progress would take more than 20 seconds.
        #expect((record.end?.timings.finished ?? .zero) < .seconds(15))
    }

    /// The server closes after its response, which resets the connection during the upload.
    ///
    /// The response still counts.
    @Test func rejectionFollowedByCloseIsDelivered() async throws {
        for _ in 0..<30 {
            var request = peers.request(
                .earlyTLS, host: "http11-refuses.errand.test", method: .post, "/",
                body: body("data"))
            request.options.security = .insecureForTests
            request.timeouts.idle = Self.longIdle
            let record = try await CurlTransport().run(request)
            #expect(record.head?.status.code == 413, "\(record.errorText)")
            #expect(record.text == "xxxx")
        }
    }

    @Test(
        arguments: [
            "/stop", "/stop?silent", "/stop?length=0", "/stop?length=40000", "/stop?late=2000",
            "/stop?status=500", "/stop?status=401&silent",
        ], ["data", "small", "stream", "endless", "silent"])
    func rejectionIsDelivered(target: String, kind: String) async throws {
        let record = try await run(target, kind)
        #expect(record.error == nil, "\(record.errorText)")
        let status =
            target.contains("status=") ? Int(target.split(separator: "=")[1].prefix(3)) : 413
        #expect(record.head?.status.code == status)
        #expect((record.end?.timings.finished ?? .zero) < Self.longIdle)
        let length = target.contains("length=0") ? 0 : target.contains("length=40000") ? 40_000 : 4
        #expect(record.received == length)
    }

    /// A server may respond long after it has read the complete upload.
    @Test func lateRejectionIsDelivered() async throws {
        var request = peers.request(
            .earlyTLS, method: .post, "/pause?status=500&silent&late=9", body: .string("all of it"))
        request.timeouts.idle = Self.longIdle
        let record = try await CurlTransport().run(request)
        #expect(record.error == nil, "\(record.errorText)")
        #expect(record.text == "xxxx")
    }

    /// A success does not stop the upload, so the idle timeout ends it.
    ///
    /// The transfer still succeeds.
    @Test(arguments: ["/stop?status=200", "/stop?status=200&length=0", "/stop?status=204&length=0"])
    func earlySuccessIsDelivered(target: String) async throws {
        for kind in ["data", "small", "endless"] {
            let record = try await run(target, kind, idle: Self.shortIdle)
            #expect(record.error == nil, "\(record.errorText)")
            #expect(record.head?.status.kind == .successful)
        }
    }

    /// The end of the stream ends a response without a length.
    @Test func earlySuccessWithoutLengthIsDelivered() async throws {
        let record = try await run("/stop?status=200&silent", "data", idle: Self.shortIdle)
        #expect(record.error == nil && record.text == "xxxx", "\(record.errorText)")
        #expect(record.head?.status == .ok)
    }

    /// The server resets the stream after its response, which counts (RFC 9113 §8.1).
    @Test(arguments: ["/reset", "/reset?late=65535", "/cancel", "/goaway", "/reset?length=0"])
    func streamResetAfterTheResponse(target: String) async throws {
        for kind in ["data", "small", "stream", "endless"] {
            let record = try await run(target, kind)
            #expect((record.end?.timings.finished ?? .zero) < Self.longIdle, "\(kind)")
            #expect(record.error == nil, "\(kind): \(record.errorText)")
            #expect(record.head?.status.code == 413)
        }
        // The next request succeeds.
        let next = try await CurlTransport().run(peers.request(.nginxTLS))
        #expect(next.error == nil, "\(next.errorText)")
    }

    /// nginx responds 413 to bodies that are too large, over HTTP/1.1 and HTTP/2.
    @Test(
        arguments: [Peers.Peer.nginxTLS, .nginxTLS12, .nginxPlain],
        ["data", "stream", "endless", "silent"])
    func nginxRejectsLargeBodies(peer: Peers.Peer, kind: String) async throws {
        var request = peers.request(peer, method: .post, "/small-only", body: body(kind))
        request.timeouts.idle = Self.longIdle
        let record = try await CurlTransport().run(request)
        #expect(record.head?.status.code == 413 && record.error == nil, "\(record.errorText)")
        #expect((record.end?.timings.finished ?? .zero) < Self.longIdle)
    }
}
