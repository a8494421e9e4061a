import Errand
import ErrandTesting
import Foundation

/// An agent over a scripted transport, with a clock that stands still, and everything recorded.
struct World {
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

    func with<Endpoint: BaseRequest>(_ endpoint: Endpoint) -> Endpoint {
        endpoint.agent = agent
        return endpoint
    }
}

/// Writes down who was called, in order.
final class Log: RequestAccessory, RequestDelegate {
    var lines: [String] = []

    func requestWillStart(_ request: BaseRequest) { lines.append("willStart accessory") }
    func requestWillSuspend(_ request: BaseRequest) { lines.append("willSuspend accessory") }
    func requestDidResume(_ request: BaseRequest) { lines.append("didResume accessory") }
    func requestWillCancel(_ request: BaseRequest) { lines.append("willCancel accessory") }
    func requestWillStop(_ request: BaseRequest) { lines.append("willStop accessory") }
    func requestDidStop(_ request: BaseRequest) { lines.append("didStop accessory") }
    func requestFinished(_ request: BaseRequest) { lines.append("delegate finished") }
    func requestFailed(_ request: BaseRequest) { lines.append("delegate failed") }
    func compositeWillStart(_ composite: any CompositeRequest) { lines.append("batch willStart") }
    func compositeWillStop(_ composite: any CompositeRequest) { lines.append("batch willStop") }
    func compositeDidStop(_ composite: any CompositeRequest) { lines.append("batch didStop") }
}

/// An endpoint that notes its hooks.
class Noted: BaseRequest {
    let path: String
    let log: Log

    init(_ path: String, log: Log) {
        self.path = path
        self.log = log
        super.init()
        accessories = [log]
        delegate = log
    }

    override var url: String { path }
    override func willStart() { log.lines.append("willStart") }
    override func didFinish() { log.lines.append("didFinish") }
    override func didFail() { log.lines.append("didFail") }
}

struct User: Decodable, Equatable {
    var nick: String
    var level: Int
}

final class GetUser: JSONRequest<User> {
    let id: Int
    init(id: Int) { self.id = id }
    override var url: String { "users" }
    override var arguments: Arguments? { ["id": id] }
}

final class Plain: BaseRequest {
    let path: String
    init(_ path: String) { self.path = path }
    override var url: String { path }
}
