import Errand
import ErrandTesting

/// An agent for tests of batches and chains.
///
/// Its server responds to `users?id=0` and to paths that end with `bad` with status 404, to others with their path, and
/// to `users?id=7` with a user whose nick is `7`.
struct CompositeFixture {
    let base: AgentFixture

    init(_ configure: (inout Configuration) -> Void = { _ in }) {
        base = AgentFixture(configure)
        base.transport.respond { request in
            let path = request.url.path
            let id = request.url.query?.dropFirst(3) ?? ""
            return id == "0" || path.hasSuffix("bad")
                ? .json("{}", status: .notFound)
                : .json(#"{"path":"\#(path)","nick":"\#(id)","level":3}"#)
        }
    }

    var agent: RequestAgent { base.agent }
    var transport: ScriptedTransport { base.transport }

    func plain(_ path: String) -> Plain { base.with(Plain(path)) }
    func user(_ id: Int) -> GetUser { base.with(GetUser(id: id)) }

    /// The paths and queries of the requests that were sent, in order.
    var paths: [String] {
        transport.requests.map { $0.url.path + ($0.url.query.map { "?\($0)" } ?? "") }
    }
}
