import ErrandCore
import ErrandCurl
import ErrandTesting
import ErrandTransport
import Foundation
import HTTPTypes
import TestSupport

/// The real servers that `Scripts/peers/run` starts on loopback.
///
/// `Scripts/run-tests` starts them before the tests. A plain `swift test` starts them with the first test that
/// needs one. If they cannot be started, the test fails.
struct Peers: Sendable {
    enum Peer: String, CaseIterable, Sendable {
        case nginxPlain, nginxTLS, nginxTLS12, nginxTLS11, nginxClients
        case nghttpdTLS, nghttpdPlain, nghttpdClients
        case tinyproxy, tinyproxyLocked, socks, socksLocked
        case httpbin, earlyTLS, earlyPlain, earlyDemanding, renegotiating
        case secureProxy, secureProxyLocked, secureProxyClients, secureProxyStranger
        case secureProxyMisnamed, secureProxyUnnamed
        case eventStreams, tus, webSocket, webSocketTLS, aiohttpPlain, aiohttpTLS, hypercorn

        var scheme: String {
            switch self {
            case .nginxTLS, .nginxTLS12, .nginxTLS11, .nginxClients, .nghttpdTLS, .nghttpdClients,
                .earlyTLS, .earlyDemanding, .renegotiating, .webSocketTLS, .aiohttpTLS, .hypercorn:
                "https"
            default: "http"
            }
        }
    }

    struct Missing: Error, CustomStringConvertible {
        let description: String
    }

    let folder: String
    private let ports: [String: Int]

    private static let started = Result { try Peers(folder: PeerLauncher.folder()) }

    /// The servers of this run.
    static func get() throws -> Peers { try started.get() }

    private init(folder: String) throws {
        let data = try Data(contentsOf: URL(fileURLWithPath: folder + "/peers.json"))
        self.folder = folder
        ports = try JSONDecoder().decode([String: Int].self, from: data)
        for peer in Peer.allCases where ports[peer.rawValue] == nil {
            throw Missing(description: "\(peer) was not started")
        }
    }

    /// The body that nginx serves as `/large`.
    static let largeBody = Data((0..<(1 << 20)).map { UInt8(truncatingIfNeeded: $0) })

    func port(_ peer: Peer) -> Int { ports[peer.rawValue] ?? 0 }

    /// The path of a file of `Scripts/peers/certificates`.
    func certificate(_ name: String) -> String { "\(folder)/certificates/\(name)" }

    func text(_ name: String) throws -> String {
        try String(contentsOfFile: certificate(name), encoding: .utf8)
    }

    /// The digest of a certificate's public key, computed by openssl.
    func pin(_ name: String) throws -> String { try text(name + ".pin") }

    func url(_ peer: Peer, host: String = "localhost", _ path: String = "/info") -> String {
        "\(peer.scheme)://\(host):\(port(peer))\(path)"
    }

    /// The URL of a peer for endpoints.
    func endpoint(_ peer: Peer, host: String = "localhost", _ path: String = "/info") -> EndpointURL
    {
        EndpointURL(raw: url(peer, host: host, path))
    }

    /// A request that trusts the tests' root certificate; `*.test` hosts are resolved without DNS.
    func request(
        _ peer: Peer, host: String = "good.errand.test", method: HTTPMethod = .get,
        _ target: String = "/info", headers: HTTPFields = [:], body: HTTPBody? = nil
    ) -> TransportRequest {
        let parts = target.split(separator: "?", maxSplits: 1).map(String.init)
        let url = HTTPURL(
            scheme: peer.scheme, host: host, port: port(peer), path: parts.first ?? "/",
            query: parts.count > 1 ? parts[1] : nil)
        var request = TransportRequest(method: method, url: url, headers: headers, body: body)
        request.options.mayReplay = method.isIdempotent
        // Longer than parallel tests can block the threads that a body stream needs.
        request.timeouts = Timeouts(connect: .seconds(120), idle: .seconds(120))
        if host.hasSuffix(".test") {
            request.options.addressOverrides = ["\(host):\(port(peer))": ["127.0.0.1"]]
        }
        if peer.scheme == "https" {
            var security = SecurityPolicy()
            security.authorityFile = certificate("root.pem")
            request.options.security = security
            if BothVersions.asksForHTTP11 { request.options.httpVersion = .http11 }
        }
        return request
    }

    /// The version that a server with HTTP/2 and a request negotiate.
    static var negotiated: HTTPVersion { BothVersions.asksForHTTP11 ? .http11 : .http2 }
}

/// The properties of a request and its connection that nginx returns for `/info`.
struct PeerInfo: Sendable {
    private let values: [String: String]

    init(_ record: RecordingReceiver.Record) {
        let text = String(decoding: record.body, as: UTF8.self)
        var values: [String: String] = [:]
        for part in text.split(separator: " ") {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if pair.count == 2 { values[String(pair[0])] = String(pair[1]) }
        }
        self.values = values
    }

    subscript(name: String) -> String { values[name] ?? "" }

    var connection: String { self["connection"] }
    var isResumed: Bool { self["resumed"] == "r" }
}

extension Transport {
    /// Runs a request and waits for its end.
    func run(_ request: TransportRequest) async throws -> RecordingReceiver.Record {
        let receiver = RecordingReceiver()
        let transfer = start(request, receiver: receiver)
        return try await withTaskCancellationHandler {
            try await receiver.ended()
        } onCancel: {
            transfer.cancel()
        }
    }

    /// Runs requests concurrently and waits for their ends.
    func run(all requests: [TransportRequest]) async throws -> [RecordingReceiver.Record] {
        let receivers = requests.map { request in
            let receiver = RecordingReceiver()
            _ = start(request, receiver: receiver)
            return receiver
        }
        var records: [RecordingReceiver.Record] = []
        for receiver in receivers { records.append(try await receiver.ended()) }
        return records
    }
}
