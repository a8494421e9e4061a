import Errand
import ErrandTesting
import Foundation
import Synchronization

/// A request of a ``ChaosPlan``.
final class ChaosRequest: BaseRequest {
    private let plan: ChaosPlan
    private let address: String
    private let ends: ChaosEnds

    init(_ plan: ChaosPlan, _ address: String, _ ends: ChaosEnds) {
        self.plan = plan
        self.address = address
        self.ends = ends
        super.init()
        ends.requestMade()
    }

    deinit { ends.requestReleased() }

    override var url: EndpointURL { "\(raw: address)/\(plan.id)" }
    override var method: HTTPMethod { HTTPMethod(plan.method) }
    override var body: HTTPBody? {
        plan.method == "GET" ? nil : .string("request \(plan.id)", contentType: "text/plain")
    }
    override func configure(_ request: inout RequestDescription) {
        super.configure(&request)
        request.acceptance.format = .any
        request.acceptance.contentTypes = ["*/*"]
    }
    override var timeouts: Timeouts? {
        Timeouts(idle: .seconds(2), total: plan.isHurried ? .milliseconds(5) : nil)
    }
    override var retryPolicy: RetryPolicy? { RetryPolicy.none }

    override func didFinish() { ends.hookCalled(plan.id) }
    override func didFail() { ends.hookCalled(plan.id) }
}

/// Counts and compares the ends of requests.
final class ChaosEnds: Sendable {
    private struct State: Sendable {
        var ends: [Int: Int] = [:]
        var hooks: [Int: Int] = [:]
        var codes: [String: Int] = [:]
        var problems: [String] = []
        var requests = 0
    }

    private let state = Mutex(State())

    var problems: [String] { state.withLock { $0.problems } }
    /// The number of requests that exist.
    var requests: Int { state.withLock { $0.requests } }
    /// The numbers of requests without an end.
    func missing(of count: Int) -> [Int] {
        state.withLock { state in (0..<count).filter { state.ends[$0] == nil } }
    }
    var summary: String {
        state.withLock { state in
            state.codes.sorted { $0.value > $1.value }.map { "\($0.key) \($0.value)" }
                .joined(separator: ", ")
        }
    }

    func requestMade() { state.withLock { $0.requests += 1 } }
    func requestReleased() { state.withLock { $0.requests -= 1 } }

    /// Called by `didFinish()` and `didFail()`.
    func hookCalled(_ id: Int) {
        state.withLock { state in
            state.hooks[id, default: 0] += 1
            if state.hooks[id] != 1 { state.problems.append("\(id): two hooks") }
        }
    }

    /// Records an end, and compares it with the plan.
    func ended(
        _ plan: ChaosPlan, last: ChaosPlan, _ result: Result<Response, RequestError>
    ) {
        let problem = Self.problem(plan, last, result)
        state.withLock { state in
            state.ends[plan.id, default: 0] += 1
            if state.ends[plan.id] != 1 { state.problems.append("\(plan.id): two ends") }
            switch result {
            case .success: state.codes["success", default: 0] += 1
            case .failure(let error): state.codes["\(error.code)", default: 0] += 1
            }
            if let problem {
                state.problems.append(
                    "\(plan.id) \(plan.method) \(plan.fault) \(last.fault): \(problem)")
            }
        }
    }

    private static func problem(
        _ plan: ChaosPlan, _ last: ChaosPlan, _ result: Result<Response, RequestError>
    ) -> String? {
        switch (result, last.expectation) {
        case (.success(let response), .success(let body)),
            (.success(let response), .either(let body)):
            guard response.data == body else {
                let text = String(decoding: response.data.prefix(60), as: UTF8.self)
                return "wrong response of \(response.data.count) bytes, \(text)"
            }
            return response.headers[.init("X-Id") ?? .accept].map { $0 == "\(plan.id)" } == false
                ? "wrong field X-Id" : nil
        case (.success(let response), .failure):
            let text = String(decoding: response.data.prefix(60), as: UTF8.self)
            return "success, \(text)"
        case (.failure(let error), .success):
            if plan.cancellation != nil, error.code == .cancelled { return nil }
            if plan.isHurried, error.code == .timedOut { return nil }
            // Of a kept connection that the server closes; only idempotent requests may be sent again.
            if plan.method == "POST", error.code == .connectionLost { return nil }
            return "\(error)"
        case (.failure, .failure), (.failure, .either): return nil
        }
    }
}
