import Errand
import ErrandTesting
import ErrandTransport
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// Requests with trailers to real servers, over HTTP/1.1 and HTTP/2.
@Suite("Real peers: request trailers", .limited)
struct RequestTrailerTests {
    private let peers: Peers
    private let transport = CurlTransport()

    init() throws { peers = try Peers.get() }

    private func request(_ peer: Peers.Peer) -> TransportRequest {
        peers.request(
            peer, method: .post, "/info",
            body: .string("abc").trailers([.custom("X-Sum")]) { [.custom("X-Sum"): "294"] })
    }

    @Test(
        arguments: [
            (Peers.Peer.nginxTLS, HTTPVersion.http2), (.nginxTLS12, .http11),
            (.nginxPlain, .http11),
        ])
    func trailersAreSent(peer: Peers.Peer, version: HTTPVersion) async throws {
        let request = request(peer)
        try transport.check(request)
        for _ in 0..<2 {
            let record = try await transport.run(request)
            #expect(record.error == nil, "\(record.errorText)")
            #expect(record.head?.httpVersion == version)
            #expect(PeerInfo(record)["announced"] == "X-Sum")
        }
        // The bytes of a request that nginx had not read when it responded are not taken for the next request.
        let next = try await transport.run(peers.request(peer, "/info"))
        #expect(next.error == nil, "\(next.errorText)")
        #expect(PeerInfo(next)["announced"] == "")
    }

    // nghttpd responds after the last byte of a body that it echoes. nginx responds before it has read a body, and then ends
    // the connection by GOAWAY with PROTOCOL_ERROR, because it refuses the trailers that it had not read.
    @Test func connectionIsKeptAfterTrailers() async throws {
        // Each loop has connections of its own, and a busy machine may use another one.
        var configuration = CurlConfiguration()
        configuration.loops = 1
        let transport = CurlTransport(configuration: configuration)
        var request = peers.request(
            .nghttpdPlain, method: .post, "/echo",
            body: .string("abc").trailers([.custom("X-Sum")]) { [.custom("X-Sum"): "294"] })
        request.options.httpVersion = .http2PriorKnowledge
        for isReused in [false, true] {
            let record = try await transport.run(request)
            #expect(record.error == nil, "\(record.errorText)")
            #expect(record.text == "abc")
            #expect(record.end?.timings.reusedConnection == isReused)
        }
    }

    // MARK: - Through an agent

    /// The limits of a transport with one connection.
    enum Limit: CaseIterable, Sendable {
        case perHost, total, both

        func transport() -> CurlTransport {
            CurlTransport {
                if self != .total { $0.connectionsPerHost = 1 }
                if self != .perHost { $0.maximumConnections = 1 }
            }
        }
    }

    private final class Upload: BaseRequest {
        private let number: Int
        init(_ number: Int) { self.number = number }

        override var url: EndpointURL { "/\(number)" }
        override var method: HTTPMethod { .put }
        override func configure(_ request: inout RequestDescription) {
            super.configure(&request)
            request.acceptance.format = .text
            request.sending.security = .insecureForTests
        }
        override var body: HTTPBody? {
            .string("body \(number)").trailers([.custom("X-Size")], into: 0) { size, bytes in
                size += bytes.count
            } fields: { [number] size in
                [.custom("X-Size"): "\(size) of \(number)"]
            }
        }
    }

    private func agent(
        _ limit: Limit, _ url: String, _ options: TransportOptions = TransportOptions()
    ) -> RequestAgent {
        var configuration = Configuration(baseURL: EndpointURL(raw: url))
        configuration.transportOptions = options
        return RequestAgent(
            configuration: configuration, transport: limit.transport(), store: nil)
    }

    /// Sends requests at the same time, and returns the responses by their numbers.
    private func responses(_ agent: RequestAgent, _ numbers: Range<Int>) async throws -> [String] {
        try await withThrowingTaskGroup(of: (Int, String).self) { group in
            for number in numbers {
                group.addTask {
                    (
                        number,
                        String(
                            decoding: try await Upload(number).send(on: agent).data, as: UTF8.self)
                    )
                }
            }
            return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
                .sorted { $0.key < $1.key }.map(\.value)
        }
    }

    @Test(arguments: Limit.allCases)
    func trailersFollowEachBodyOnALimitedConnection(limit: Limit) async throws {
        let server = LoopbackServer()
        server.otherwise { request in
            LoopbackResponse(
                body: "\(request.path) \(String(decoding: request.body, as: UTF8.self)) "
                    + request.trailers.map(\.description).joined(separator: ","))
        }
        try await server.start()
        let responses = try await responses(agent(limit, server.url("/")), 0..<12)
        #expect(
            responses
                == (0..<12).map { number in
                    "/\(number) body \(number) X-Size: \("body \(number)".count) of \(number)"
                })
        #expect(server.status.accepted == 1)
        await server.stop()
    }

    @Test(arguments: Limit.allCases)
    func trailersFollowEachBodyOnALimitedConnectionOverTLS(limit: Limit) async throws {
        let host = "http11-shows.errand.test:\(peers.port(.earlyTLS))"
        var options = TransportOptions()
        options.addressOverrides = [host: ["127.0.0.1"]]
        let responses = try await responses(agent(limit, "https://\(host)/", options), 0..<6)
        #expect(responses.count == 6)
        for (number, text) in responses.enumerated() {
            let lines = text.components(separatedBy: "\r\n")
            let content = "body \(number)"
            #expect(lines.dropFirst().first == "PUT /\(number) HTTP/1.1")
            #expect(lines.contains("Trailer: X-Size"))
            #expect(
                lines.suffix(6) == [
                    String(content.count, radix: 16), content, "0",
                    "X-Size: \(content.count) of \(number)", "", "",
                ])
        }
        // The first line is the client's port.
        #expect(Set(responses.map { $0.prefix { $0 != "\r\n" } }).count == 1)
    }
}
