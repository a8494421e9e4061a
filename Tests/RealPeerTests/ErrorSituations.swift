import Errand
import ErrandTesting
import ErrandTransport
import Foundation
import HTTPTypes
import TestSupport

/// Real situations that end with the errors of the article Error codes: a server, its peers and a folder.
///
/// The other files have a situation for each code.
struct ErrorSituations: Sendable {
    let server = LoopbackServer()
    let peers: Peers
    let folder: TemporaryFolder

    init() throws {
        peers = try Peers.get()
        folder = try TemporaryFolder("errors")
    }

    /// An agent whose base URL, by an address override, leads to the server.
    func agent(
        over transport: any Transport = CurlTransport(),
        _ change: (inout Configuration) -> Void = { _ in }
    ) -> RequestAgent {
        let port = server.port
        var configuration = Configuration(
            baseURL: EndpointURL(raw: "http://api.example.com:\(port)"))
        configuration.transportOptions.addressOverrides = ["api.example.com:\(port)": ["127.0.0.1"]]
        change(&configuration)
        return RequestAgent(configuration: configuration, transport: transport)
    }

    /// The error of a request for a pilot.
    func failure(
        on agent: RequestAgent? = nil,
        _ change: @escaping (inout RequestDescription) -> Void = { _ in }
    ) async -> RequestError? {
        await failure(of: GetPilot(change), on: agent)
    }

    /// The error of a request; the agent is shut down.
    func failure(of request: some Startable, on agent: RequestAgent? = nil) async -> RequestError? {
        let agent = agent ?? self.agent()
        do throws(RequestError) {
            _ = try await request.send(on: agent)
            await agent.shutdown()
            return nil
        } catch {
            await agent.shutdown()
            return error
        }
    }

    /// The error of a request to which the server sends this response.
    func failure(
        of request: some Startable = GetPilot(), receiving response: LoopbackResponse,
        on agent: RequestAgent? = nil
    ) async -> RequestError? {
        server.otherwise { _ in response }
        return await failure(of: request, on: agent)
    }

    /// The error of a request to one of the servers with TLS.
    func failure(
        at peer: Peers.Peer, host: String, path: String = "/info",
        _ change: @escaping (inout SecurityPolicy) -> Void = { _ in }
    ) async -> RequestError? {
        let port = peers.port(peer)
        let agent = agent { configuration in
            configuration.baseURL = EndpointURL(raw: "https://\(host):\(port)")
            configuration.transportOptions.addressOverrides = ["\(host):\(port)": ["127.0.0.1"]]
        }
        var security = SecurityPolicy()
        security.authorityFile = peers.certificate("root.pem")
        change(&security)
        return await failure(on: agent) { [security] in
            $0.url = EndpointURL(raw: path)
            $0.sending.security = security
        }
    }

    /// The description of an error without what differs between runs: ports, folders, keys, free space.
    func text(_ error: RequestError) -> String {
        error.description
            .replacing(/(api\.example\.com|[a-z0-9-]+\.errand\.test):[0-9]+/) { "\($0.1)" }
            .replacing(/127\.0\.0\.1:[0-9]+/, with: "127.0.0.1:8080")
            .replacing(
                /[A-Za-z0-9+\/]{43}=(, [A-Za-z0-9+\/]{43}=)*/,
                with: "csNnGZ9bjBUC5lagCZZOWvRwgaG/RXNDlOYn/k5kLIw="
            )
            .replacing(
                /of \S+ has [0-9]+ available/, with: "of /home/amelia has 20000000000 available"
            )
            .replacingOccurrences(of: folder.url.path, with: "/home/amelia")
    }
}

/// An endpoint whose settings a situation changes.
final class GetPilot: BaseRequest {
    private let change: (inout RequestDescription) -> Void

    init(_ change: @escaping (inout RequestDescription) -> Void = { _ in }) { self.change = change }

    override var url: EndpointURL { "pilots/7" }
    override func configure(_ request: inout RequestDescription) {
        super.configure(&request)
        change(&request)
    }
}

/// An endpoint with a typed output.
final class GetPlane: JSONRequest<GetPlane.Plane> {
    struct Plane: Decodable, Sendable {
        var name: String
        var seats: Int
    }
    override var url: EndpointURL { "planes/7" }
}

/// A download with settings of its own.
final class GetFilm: BaseRequest, FileOutput {
    let download: DownloadPlan

    init(_ folder: TemporaryFolder, _ change: (inout DownloadPlan) -> Void = { _ in }) {
        download = DownloadPlan(to: folder.url.appendingPathComponent("film.mkv"), change)
    }

    override var url: EndpointURL { "film.mkv" }
}

/// An error of the application.
struct Problem: Error {}
