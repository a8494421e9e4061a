import Errand
import ErrandTesting
import ErrandTransport
import Foundation
import HTTPTypes
import TestSupport
import Testing

// Errors of the transport.
extension ErrorSituations {
    func connecting(_ code: RequestError.Code) async throws -> RequestError? {
        switch code {
        case .timedOut:
            return await failure(
                of: GetPilot { $0.timeouts = Timeouts(idle: .milliseconds(100)) },
                receiving: .silence(until: Gate()))
        case .cannotFindHost:
            return await failure { $0.url = "https://no-such-host.invalid/pilots/7" }
        case .cannotConnect: return try await refused { $0 }
        case .proxyFailed: return try await refused { _ in server.port }
        case .secureConnectionFailed:
            return await failure(at: .nginxTLS11, host: "good.errand.test")
        case .certificateRejected: return await failure(at: .nginxTLS, host: "expired.errand.test")
        case .pinMismatch:
            return await failure(at: .nginxTLS, host: "good.errand.test") {
                $0.pins = [
                    SecurityPolicy.Pins(
                        "good.errand.test", publicKeys: [(try? peers.pin("other-root")) ?? ""])
                ]
            }
        case .clientCertificateRejected:
            return await failure(at: .nghttpdClients, host: "good.errand.test", path: "/index.html")
        case .transportFailed: return try await descriptorFailure()
        default: return nil
        }
    }

    func receiving(_ code: RequestError.Code) async throws -> RequestError? {
        switch code {
        case .connectionLost: return await failure(receiving: .reset)
        case .badServerResponse:
            return await failure(receiving: .raw("SSH-2.0-OpenSSH_9.2\r\n\r\n"))
        case .truncatedBody:
            return await failure(receiving: .truncated(announcing: 1000, body: Data("Amelia".utf8)))
        case .bodyTooLarge:
            return await failure(
                of: GetPilot { $0.sending.transport.maximumBodyBytes = 1000 },
                receiving: LoopbackResponse(body: Data(count: 1001)))
        case .badContentEncoding:
            return await failure(
                receiving: LoopbackResponse(headers: ["Content-Encoding": "gzip"], body: "Amelia"))
        case .bodyReadFailed:
            return await failure(of: stream(length: 10), receiving: LoopbackResponse())
        case .tooManyRedirects:
            return await failure(
                receiving: LoopbackResponse(status: 302, headers: ["Location": "/pilots/7"]))
        case .unsafeRedirect:
            return await failure(
                receiving: LoopbackResponse(
                    status: 302, headers: ["Location": "ftp://files.example.com/7"]))
        case .bodyNotReplayable:
            return await failure(
                of: stream(length: 6),
                receiving: LoopbackResponse(status: 307, headers: ["Location": "/pilots/8"]))
        case .webSocketClosed: return try await socketFailure()
        default: return nil
        }
    }

    /// The error of a request in a process, a separate one, without a free file descriptor.
    private func descriptorFailure() async throws -> RequestError? {
        let process = try await #require(
            processExitsWith: .success, observing: [\.standardOutputContent]
        ) {
            let server = LoopbackServer()
            server.otherwise { _ in LoopbackResponse() }
            try await server.start()
            var configuration = Configuration(
                baseURL: EndpointURL(raw: "http://api.example.com:\(server.port)"))
            configuration.transportOptions.addressOverrides = ["api.example.com": ["127.0.0.1"]]
            let agent = RequestAgent(configuration: configuration, transport: CurlTransport())
            // The transport opens the descriptors of its loop, and a connection to another host.
            try await InlineRequest(EndpointURL(raw: server.url("/warm"))).send(on: agent)
            ProcessResources.allowNoMoreDescriptors()
            do throws(RequestError) {
                try await GetPilot().send(on: agent)
            } catch {
                print("\n\(String(decoding: try JSONEncoder().encode(error), as: UTF8.self))")
            }
        }
        let lines = String(decoding: process.standardOutputContent, as: UTF8.self).split(
            separator: "\n")
        guard let line = lines.first(where: { $0.hasPrefix("{") }) else { return nil }
        return try JSONDecoder().decode(RequestError.self, from: Data(line.utf8))
    }

    /// The error of a request to a port without a server, or through a proxy there.
    private func refused(_ target: (Int) -> Int) async throws -> RequestError? {
        let dead = try DeadPort.Refusing()
        defer { withExtendedLifetime(dead) {} }
        let (port, closed) = (target(dead.port), dead.port)
        return await failure(
            on: agent {
                $0.baseURL = EndpointURL(raw: "http://127.0.0.1:\(port)")
                if port != closed {
                    $0.transportOptions.proxy = .url("http://127.0.0.1:\(closed)")
                }
            })
    }

    private func stream(length: Int64) -> GetPilot {
        GetPilot {
            $0.method = .put
            $0.body = .stream(length: length, isReplayable: false) {
                AsyncStream { continuation in
                    continuation.yield(Data("Amelia".utf8))
                    continuation.finish()
                }
            }
        }
    }

    private func socketFailure() async throws -> RequestError? {
        server.otherwise { _ in
            .webSocket { $0.close(.init(rawValue: 1011), reason: "maintenance") }
        }
        let agent = agent()
        do throws(RequestError) {
            let socket = try await Prices().connect(on: agent)
            for try await _ in socket.messages {}
            await agent.shutdown()
            return nil
        } catch {
            await agent.shutdown()
            return error
        }
    }
}

/// An endpoint of a WebSocket.
private final class Prices: BaseRequest, MessageEndpoint {
    typealias Incoming = String
    typealias Outgoing = String
    override var url: EndpointURL { "prices" }
}
