import Errand
import ErrandTesting
import Foundation
import TestSupport
import Testing

/// What real servers receive of the values in the URL of an endpoint: each value unchanged, in its place.
@Suite("Real peers: endpoint URLs", .limited)
struct EndpointURLPeerTests {
    private struct Received: Decodable {
        var raw: String
        var path: String
        var query: [String: String]
    }

    private static let values = [
        "a/b", "a?b=c&d#e", "100%", "%2F%2e", "é 日🙂", "a;b,c:d@e", "..;x", "a+b", "\\..\\x",
        "https://evil.example/x", "\"<>[]{}|^`", "~-._", "&&==", "...",
    ]

    @Test(arguments: HTTPBinTests.TransportKind.allCases)
    func uvicornReceivesEachValue(kind: HTTPBinTests.TransportKind) async throws {
        let peers = try Peers.get()
        let agent = try kind.agent {
            $0.baseURL = peers.endpoint(.eventStreams, host: "127.0.0.1", "/target/v1?key=1")
        }
        for value in Self.values + ["../admin", "a\r\nb\0"] {
            let request = InlineRequest("\(value)/x?q=\(value)&r=\(value)#\(value)")
            let received = try await request.send(on: agent).decode(Received.self)
            #expect(received.path == "/target/v1/\(value)/x" as String)
            #expect(received.query == ["key": "1", "q": value, "r": value])
            let segments = received.raw.split(separator: "/", omittingEmptySubsequences: false)
            #expect(segments.count == 5)
            #expect(segments[3].removingPercentEncoding == value)
        }
    }

    @Test(arguments: HTTPBinTests.TransportKind.allCases)
    func nginxReceivesEachValue(kind: HTTPBinTests.TransportKind) async throws {
        let peers = try Peers.get()
        let agent = try kind.agent {
            $0.baseURL = peers.endpoint(.nginxPlain, host: "127.0.0.1", "/target/")
        }
        for value in Self.values {
            let request = InlineRequest("/\(value)/x?q=\(value)") {
                $0.acceptance.format = .text
            }
            let target = try await request.send(on: agent).string ?? ""
            let parts = target.split(separator: "?", omittingEmptySubsequences: false)
            #expect(parts.count == 2)
            let segments = parts[0].split(separator: "/", omittingEmptySubsequences: false)
            #expect(segments.map { $0.removingPercentEncoding } == ["", "target", value, "x"])
            #expect(parts[1].removingPercentEncoding == "q=" + value)
        }
    }
}
