import ErrandTesting
import Foundation
import Synchronization

/// A tus server in memory, whose responses a test can replace.
final class TusLoopback: Sendable {
    struct State: Sendable {
        var length: Int64?
        var content = Data()
        var creations = 0
        var removals = 0
        var maximumSize: Int64 = 1 << 40
        var extensions = "creation,expiration,termination,checksum"
        var algorithms = "sha1,sha256"
        /// Returns a response in place of the server's own, by the number of the request, from 1.
        var fault: (@Sendable (Int, LoopbackRequest, inout State) -> LoopbackResponse?)?
        var count = 0
    }

    let server = LoopbackServer()
    let state = Mutex(State())

    init() async throws {
        server.otherwise { [unowned self] in respond(to: $0) }
        try await server.start()
    }

    var url: String { server.url("/files/") }
    var content: Data { state.withLock { $0.content } }
    var creations: Int { state.withLock { $0.creations } }
    var removals: Int { state.withLock { $0.removals } }
    var methods: [String] { server.requests.map(\.method) }
    /// The offsets of the pieces, in order.
    var offsets: [String] {
        server.requests.filter { $0.method == "PATCH" }.compactMap { $0.header("Upload-Offset") }
    }

    func change(_ change: (inout State) -> Void) { state.withLock { change(&$0) } }

    /// Sets the fault; it is removed by `nil`.
    func fault(
        _ body: (@Sendable (Int, LoopbackRequest, inout State) -> LoopbackResponse?)?
    ) {
        state.withLock { ($0.fault, $0.count) = (body, 0) }
    }

    private func respond(to request: LoopbackRequest) -> LoopbackResponse {
        state.withLock { state in
            state.count += 1
            if let response = state.fault?(state.count, request, &state) { return response }
            return Self.response(to: request, &state)
        }
    }

    static func response(
        to request: LoopbackRequest, _ state: inout State
    ) -> LoopbackResponse {
        switch request.method {
        case "OPTIONS":
            return LoopbackResponse(
                status: 204,
                headers: [
                    "Tus-Version": "1.0.0", "Tus-Extension": state.extensions,
                    "Tus-Checksum-Algorithm": state.algorithms,
                    "Tus-Max-Size": "\(state.maximumSize)",
                ])
        case _ where request.header("Tus-Resumable") != "1.0.0":
            return LoopbackResponse(status: 412, headers: ["Tus-Version": "1.0.0"])
        case "POST":
            state.creations += 1
            state.length = request.header("Upload-Length").flatMap { Int64($0) }
            state.content = Data()
            return LoopbackResponse(
                status: 201, headers: ["Location": "/files/\(state.creations)"])
        case _ where request.path != "/files/\(state.creations)" || state.length == nil:
            return LoopbackResponse(status: 404)
        case "HEAD":
            return LoopbackResponse(
                status: 200,
                headers: [
                    "Upload-Offset": "\(state.content.count)",
                    "Upload-Length": "\(state.length ?? 0)", "Cache-Control": "no-store",
                ])
        case "PATCH":
            guard request.header("Upload-Offset") == "\(state.content.count)" else {
                return LoopbackResponse(status: 409)
            }
            state.content += request.body
            return LoopbackResponse(
                status: 204, headers: ["Upload-Offset": "\(state.content.count)"])
        case "DELETE":
            state.removals += 1
            state.length = nil
            return LoopbackResponse(status: 204)
        default: return LoopbackResponse(status: 405)
        }
    }
}
