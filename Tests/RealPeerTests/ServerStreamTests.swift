import Errand
import ErrandTesting
import ErrandTransport
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// Streams from an ASGI server (uvicorn), over both transports.
@Suite("Real peers: streams", .limited)
struct ServerStreamTests {
    private func agent(_ kind: HTTPBinTests.TransportKind) throws -> RequestAgent {
        let peers = try Peers.get()
        return try kind.agent {
            $0.baseURL = peers.endpoint(.eventStreams, host: "127.0.0.1", "/")
        }
    }

    private func get(_ path: String, _ arguments: Arguments) -> InlineRequest {
        InlineRequest(EndpointURL(raw: path)) { $0.arguments = arguments }
    }

    /// The values of Last-Event-ID that the server received.
    private func seen(_ token: String, _ agent: RequestAgent) async throws -> [String] {
        let response = try await get("seen", ["token": token]).send(on: agent)
        return try response.decode([String].self)
    }

    /// The server sends two events for each connection, then ends the body or cuts it off, and responds with 204 when
    /// the client has all of them.
    @Test(arguments: HTTPBinTests.TransportKind.allCases, ["ends", "cuts"])
    func eventsContinueAfterTheLastID(
        kind: HTTPBinTests.TransportKind, how: String
    ) async throws {
        let agent = try agent(kind)
        let token = UUID().uuidString
        let stream = try await get("events", ["token": token, "count": 5, "how": how]).stream(
            on: agent)
        #expect(stream.response.headers[.contentType] == "text/event-stream")
        var ids: [String] = []
        for try await event in stream.serverSentEvents {
            #expect(event.type == "added")
            #expect(event.data == "number\n\(event.id)")
            ids.append(event.id)
        }
        #expect(ids == ["1", "2", "3", "4", "5"])
        #expect(try await seen(token, agent) == ["", "2", "4", "5"])
    }

    @Test(arguments: HTTPBinTests.TransportKind.allCases)
    func cutOffStreamFailsWithoutReconnection(kind: HTTPBinTests.TransportKind) async throws {
        let agent = try agent(kind)
        let token = UUID().uuidString
        let stream = try await get("events", ["token": token, "count": 5, "how": "cuts"]).stream(
            on: agent)
        var ids: [String] = []
        let error = await #expect(throws: RequestError.self) {
            for try await event in stream.serverSentEvents(reconnects: .never) {
                ids.append(event.id)
            }
        }
        #expect(
            [.truncatedBody, .connectionLost].contains(error?.code), "\(String(describing: error))")
        #expect(error?.bytesReceived ?? 0 > 0)
        #expect(ids == ["1", "2"])
        #expect(try await seen(token, agent) == [""])
    }

    @Test(arguments: HTTPBinTests.TransportKind.allCases)
    func serverNoticesThatTheLoopIsLeft(kind: HTTPBinTests.TransportKind) async throws {
        let agent = try agent(kind)
        let token = UUID().uuidString
        let stream = try await get("open", ["token": token]).stream(on: agent)
        for try await event in stream.serverSentEvents {
            #expect(event.data == "open")
            break
        }
        let response = try await InlineRequest("closed") {
            $0.arguments = ["token": token]
            $0.acceptance.format = .text
        }.send(on: agent)
        #expect(response.string == "closed")
    }

    @Test(arguments: HTTPBinTests.TransportKind.allCases)
    func rowsAreDecoded(kind: HTTPBinTests.TransportKind) async throws {
        struct Row: Decodable, Equatable {
            var number: Int
            var text: String
        }
        let stream = try await get("rows", ["count": 300]).stream(on: agent(kind))
        var rows: [Row] = []
        for try await row in stream.jsonLines(of: Row.self) { rows.append(row) }
        #expect(rows == (0..<300).map { Row(number: $0, text: String(repeating: "x", count: $0)) })
    }

    /// Each part of the request body is sent when the response to the part before has been read.
    @Test(arguments: [
        (Peers.Peer.eventStreams, HTTPVersion.http11), (.earlyPlain, .http2), (.earlyTLS, .http2),
    ])
    func partsAreEchoed(peer: Peers.Peer, version: HTTPVersion) async throws {
        let peers = try Peers.get()
        var configuration = Configuration()
        var security = SecurityPolicy()
        security.authorityFile = peers.certificate("root.pem")
        configuration.transportOptions.security = security
        configuration.transportOptions.addressOverrides = ["good.errand.test": ["127.0.0.1"]]
        if peer == .earlyPlain { configuration.transportOptions.httpVersion = .http2PriorKnowledge }
        let agent = RequestAgent(
            configuration: configuration, transport: CurlTransport(), store: nil)
        let (parts, upload) = AsyncStream.makeStream(of: Data.self)
        let url = peers.endpoint(peer, host: "good.errand.test", "/echo")
        let stream = try await InlineRequest(url) {
            $0.method = .post
            $0.body = .stream(isReplayable: false) { parts }
        }.stream(on: agent)
        #expect(stream.response.httpVersion == version)
        var lines = stream.lines.makeAsyncIterator()
        for number in 1...5 {
            upload.yield(Data("part \(number)\n".utf8))
            #expect(try await lines.next() == "part \(number)")
        }
        upload.finish()
        #expect(try await lines.next() == nil)
        #expect(try await stream.task.response().status == .ok)
    }

    @Test func urlSessionRefusesTheUpload() async throws {
        let (parts, _) = AsyncStream.makeStream(of: Data.self)
        let agent = try agent(.urlSession)
        let error = await #expect(throws: RequestError.self) {
            try await InlineRequest("echo") {
                $0.method = .post
                $0.body = .stream(isReplayable: false) { parts }
            }.stream(on: agent)
        }
        #expect(error?.code == .unsupported)
    }
}
