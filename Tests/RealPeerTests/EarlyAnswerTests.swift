import ErrandCore
import ErrandCurl
import ErrandTesting
import Foundation
import Testing

/// Servers that answer a large upload before they have read it: the answer counts, not what became of the upload.
@Suite("Real peers: early answers", .timeLimit(.minutes(3)))
struct EarlyAnswerTests {
    private let peers: Peers
    init() throws { peers = try Peers.get() }

    /// A limit of silence that no early answer may need.
    private static let long = Duration.seconds(50)

    private func body(_ kind: String) -> HTTPBody {
        let chunk = Data(repeating: 5, count: 100_000)
        switch kind {
        case "data": return .data(Data(repeating: 5, count: 4 << 20))
        // Less than libcurl takes at once, more than the server's window: nothing is left to read in the source.
        case "small": return .data(Data(repeating: 5, count: 100_000))
        case "endless":
            return .stream { AsyncStream { $0.yield(chunk) } }
        // The source has nothing more to say when the answer comes.
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
        _ target: String, _ kind: String, idle: Duration = Self.long
    ) async throws -> RecordingReceiver.Record {
        var request = peers.request(.earlyTLS, method: .post, target, body: body(kind))
        request.timeouts.idle = idle
        // A connection of its own: the server gives back no window, and would starve the next.
        return try await CurlTransport().run(request)
    }

    /// What goes into the system's buffer bit by bit is no progress: the limit of silence holds over TLS, too.
    @Test func whoReadsNothingOverHTTP1() async throws {
        var request = peers.request(
            .earlyTLS, host: "http11.errand.test", method: .post, "/",
            body: .data(Data(repeating: 5, count: 20 << 20)))
        request.options.security = .insecureForTests
        request.timeouts.idle = .milliseconds(1500)
        let record = try await CurlTransport().run(request)
        #expect(record.error?.timeout == .idle, "\(record.trouble)")
        // It took more than twenty, as long as the buffer had room.
        #expect((record.end?.timings.finished ?? .zero) < .seconds(15))
    }

    /// The close behind the answer resets the connection under the upload: what has been said before that counts.
    @Test func refusalsThatCloseAtOnce() async throws {
        for _ in 0..<30 {
            var request = peers.request(
                .earlyTLS, host: "http11-refuses.errand.test", method: .post, "/",
                body: body("data"))
            request.options.security = .insecureForTests
            request.timeouts.idle = Self.long
            let record = try await CurlTransport().run(request)
            #expect(record.head?.status.code == 413, "\(record.trouble)")
            #expect(record.text == "xxxx")
        }
    }

    @Test(
        arguments: [
            "/stop", "/stop?silent", "/stop?length=0", "/stop?length=40000", "/stop?late=2000",
            "/stop?status=500", "/stop?status=401&silent",
        ], ["data", "small", "stream", "endless", "silent"])
    func refusals(target: String, kind: String) async throws {
        let record = try await run(target, kind)
        #expect(record.error == nil, "\(record.trouble)")
        let status =
            target.contains("status=") ? Int(target.split(separator: "=")[1].prefix(3)) : 413
        #expect(record.head?.status.code == status)
        let length = target.contains("length=0") ? 0 : target.contains("length=40000") ? 40_000 : 4
        #expect(record.received == length)
    }

    /// A server that has read everything may take its time over the answer.
    @Test func slowRefusals() async throws {
        var request = peers.request(
            .earlyTLS, method: .post, "/pause?status=500&silent&late=9", body: .string("all of it"))
        request.timeouts.idle = Self.long
        let record = try await CurlTransport().run(request)
        #expect(record.error == nil, "\(record.trouble)")
        #expect(record.text == "xxxx")
    }

    /// A success does not stop the upload, so the limit of silence decides; it ends in the answer all the same.
    @Test(arguments: ["/stop?status=200", "/stop?status=200&length=0", "/stop?status=204&length=0"])
    func successes(target: String) async throws {
        for kind in ["data", "small", "endless"] {
            let record = try await run(target, kind, idle: .milliseconds(400))
            #expect(record.error == nil, "\(record.trouble)")
            #expect(record.head?.status.kind == .successful)
        }
    }

    /// Where the answer's end is not known, silence is silence.
    @Test func successWithoutALength() async throws {
        let record = try await run("/stop?status=200&silent", "data", idle: .milliseconds(400))
        #expect(record.error?.code == .timedOut, "\(record.trouble)")
        #expect(record.head?.status == .ok)
    }

    /// The server takes the stream back behind its answer.
    ///
    /// libcurl 7.88 loses an answer that comes in one TLS record with that; it must not last, and must not be taken for
    /// a success.
    @Test(arguments: ["/reset", "/reset?late=65535", "/cancel", "/goaway", "/reset?length=0"])
    func streamsTakenBack(target: String) async throws {
        for kind in ["data", "small", "stream", "endless"] {
            let record = try await run(target, kind)
            #expect((record.end?.timings.finished ?? .zero) < Self.long, "\(kind)")
            if let error = record.error {
                #expect(error.code == .connectionLost, "\(record.trouble)")
            } else {
                #expect(record.head?.status.code == 413)
            }
        }
        // The machine goes on.
        let next = try await CurlTransport().run(peers.request(.nginxTLS))
        #expect(next.error == nil, "\(next.trouble)")
    }

    /// nginx says 413 to what is too large, over each version.
    @Test(
        arguments: [Peers.Peer.nginxTLS, .nginxTLS12, .nginxPlain],
        ["data", "stream", "endless", "silent"])
    func nginx(peer: Peers.Peer, kind: String) async throws {
        var request = peers.request(peer, method: .post, "/small-only", body: body(kind))
        request.timeouts.idle = Self.long
        let record = try await CurlTransport().run(request)
        #expect(record.head?.status.code == 413 && record.error == nil, "\(record.trouble)")
        #expect((record.end?.timings.finished ?? .zero) < Self.long)
    }
}
