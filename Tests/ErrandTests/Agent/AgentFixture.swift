import Errand
import ErrandTesting
import Foundation
import Synchronization

/// An agent with a scripted transport, a manual clock, and a recorder of all events.
struct AgentFixture {
    let transport = ScriptedTransport()
    let clock = ManualClock()
    let events = EventRecorder()
    let agent: RequestAgent

    init(_ configure: (inout Configuration) -> Void = { _ in }) {
        var configuration = Configuration(
            baseURL: "https://api.example.com/", cdnURL: "https://cdn.example.com/")
        configuration.eventListeners = [events]
        configure(&configuration)
        agent = RequestAgent(
            configuration: configuration, transport: transport, store: MemoryResponseStore(),
            clock: clock)
    }

    /// An agent with one interceptor, which the closure implements.
    static func intercepting(
        _ configure: (inout Configuration) -> Void = { _ in },
        _ body:
            @escaping @Sendable (TransportRequest, TransportRequest.Next) async throws -> Response
    ) -> AgentFixture {
        AgentFixture {
            $0.interceptors.append(body)
            configure(&$0)
        }
    }

    /// Binds an endpoint to the agent, for tests of what an endpoint does on its own agent.
    func with<Endpoint: BaseRequest>(_ endpoint: Endpoint) -> Endpoint {
        endpoint.assignedAgent = agent
        return endpoint
    }

    /// Sends `GET /x` to a server that returns `response`; the error, or `nil` when the request succeeds.
    func failure(
        of response: ScriptedResponse, _ describe: (inout RequestDescription) -> Void = { _ in }
    ) async -> RequestError? {
        transport.on(.get, "/x", response)
        do {
            try await with(InlineRequest("x", describe)).send()
            return nil
        } catch {
            return error
        }
    }

    /// Waits until at least `count` requests have been queued, whether or not they still are.
    func untilQueued(_ count: Int = 1) async throws {
        try await events.until { events in events.count { $0.isQueued } >= count }
    }

    /// Waits until at least `count` requests have joined the transfer of an identical request.
    func untilJoined(_ count: Int = 1) async throws {
        try await events.until { events in events.count { $0.isJoined } >= count }
    }
}

extension RequestEvent {
    /// Whether the request has started.
    var isStart: Bool { if case .started = kind { true } else { false } }

    /// Whether the request waits for a concurrency permit or for an identical request.
    var isQueued: Bool { if case .queued = kind { true } else { false } }

    /// Whether the request joined the transfer of an identical request.
    var isJoined: Bool { if case .joined = kind { true } else { false } }

    /// Whether a transfer has started.
    var isTransferStart: Bool { if case .transferStarted = kind { true } else { false } }

    /// Whether the request waits for a network.
    var isWaitingForConnectivity: Bool {
        if case .waitingForConnectivity = kind { true } else { false }
    }
}

/// Records the calls of accessory, delegate and composite methods in order.
final class CallbackLog: RequestAccessory, RequestDelegate {
    var lines: [String] = []

    func requestWillStart(_ request: BaseRequest) { lines.append("willStart accessory") }
    func requestWillSuspend(_ request: BaseRequest) { lines.append("willSuspend accessory") }
    func requestDidResume(_ request: BaseRequest) { lines.append("didResume accessory") }
    func requestWillCancel(_ request: BaseRequest) { lines.append("willCancel accessory") }
    func requestWillStop(_ request: BaseRequest) { lines.append("willStop accessory") }
    func requestDidStop(_ request: BaseRequest) { lines.append("didStop accessory") }
    func requestDidFinish(_ request: BaseRequest) { lines.append("delegate finished") }
    func requestDidFail(_ request: BaseRequest, _ error: RequestError) {
        lines.append("delegate failed")
    }
    func compositeWillStart(_ composite: CompositeRequest) { lines.append("batch willStart") }
    func compositeWillStop(_ composite: CompositeRequest) { lines.append("batch willStop") }
    func compositeDidStop(_ composite: CompositeRequest) { lines.append("batch didStop") }
}

/// A request that records its overridable hooks, its accessory calls and its delegate calls in one log.
class RecordingRequest: BaseRequest {
    let path: String
    let log: CallbackLog

    init(_ path: String, log: CallbackLog) {
        self.path = path
        self.log = log
        super.init()
        accessories = [log]
        delegate = log
    }

    override var url: EndpointURL { EndpointURL(raw: path) }
    override func willStart() { log.lines.append("willStart") }
    override func didFinish() { log.lines.append("didFinish") }
    override func didFail() { log.lines.append("didFail") }
}

/// Records the lifecycle events of requests, batches and chains as lines such as `x willStart`.
final class LifecycleRecorder: RequestAccessory, Sendable {
    private let storage = Mutex<[String]>([])

    var lines: [String] { storage.withLock { $0 } }

    func notify(_ event: RequestUnit.LifecycleEvent, of unit: RequestUnit) {
        let name = (unit as? BaseRequest).map { "\($0.url)" } ?? "\(type(of: unit))"
        storage.withLock { $0.append("\(name) \(event)") }
    }
}

struct User: Decodable, Equatable {
    var nick: String
    var level: Int
}

final class GetUser: JSONRequest<User> {
    let id: Int
    init(id: Int) { self.id = id }
    override var url: EndpointURL { "users" }
    override var arguments: Arguments? { ["id": id] }
}

final class Plain: BaseRequest {
    let path: String
    init(_ path: String) { self.path = path }
    override var url: EndpointURL { EndpointURL(raw: path) }
}
