import Errand
import ErrandTesting
import ErrandWorkflows
import Foundation
import Synchronization

/// An agent whose transport has numbers at `/n0` to `/n5`, an error at `/bad` and no response at `/slow`.
struct GraphFixture {
    let base = AgentFixture()
    var agent: RequestAgent { base.agent }
    var transport: ScriptedTransport { base.transport }

    init() {
        for number in 0..<6 { transport.on(.get, "/n\(number)", .json("\(number)")) }
        transport.on(.get, "/bad", .json("{}", status: .badRequest))
        transport.on(.get, "/slow", .silence)
    }

    func with<Endpoint: BaseRequest>(_ endpoint: Endpoint) -> Endpoint { base.with(endpoint) }

    /// The error of a graph, or `nil` if it succeeds.
    func failure(
        _ graph: RequestGraph, onStart: (RequestTask) -> Void = { _ in }
    ) async -> RequestError? {
        do throws(RequestError) {
            try await graph.send(on: agent, onStart: onStart)
            return nil
        } catch {
            return error
        }
    }
}

/// A request whose output is a number.
final class GetNumber: BaseRequest, TypedRequest {
    let path: String
    init(_ path: String) { self.path = path }
    override var url: EndpointURL { EndpointURL(raw: path) }
    var decoder: ResponseDecoder<Int> { ResponseDecoder { $0.json.int ?? -1 } }
}

/// A value that closures of several tasks share.
final class Shared<Value: Sendable>: Sendable {
    private let state: Mutex<Value>
    init(_ value: Value) { state = Mutex(value) }
    var value: Value {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}
