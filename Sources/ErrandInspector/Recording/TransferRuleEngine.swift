import ErrandCore
import ErrandHTTP
import ErrandJSON
import ErrandTransport
import Foundation
import HTTPTypes
import Synchronization

/// Applies the rules of the page to transfers.
final class TransferRuleEngine: Sendable {
    /// What the page decides about a held transfer.
    enum Decision: Sendable { case proceed, fail, cancelled }

    private struct State {
        var rules = TransferRules()
        /// Grows with each change of the rules and of their uses.
        var revision = 0
        /// The held transfers, by the number of the request.
        var held: [Int: [UInt64: CheckedContinuation<Decision, Never>]] = [:]
        var nextHold: UInt64 = 0
    }

    private let state = Mutex(State())
    private let hasRules = Atomic(false)
    private let clock: any RequestClock

    init(clock: any RequestClock) { self.clock = clock }

    /// Whether a rule can apply; reads no lock.
    var isActive: Bool { hasRules.load(ordering: .relaxed) }

    /// The rules, how often each was applied, and a number that grows with each change of both.
    var rules: (rules: [TransferRule], uses: [String: Int], revision: Int) {
        state.withLock { ($0.rules.rules, $0.rules.uses, $0.revision) }
    }

    /// The numbers of the requests with a held transfer.
    var heldRequests: Set<Int> { state.withLock { Set($0.held.keys) } }

    /// Replaces the rules.
    ///
    /// Transfers that a removed rule holds stay held until ``decide(_:_:)``.
    func replace(_ rules: [TransferRule]) {
        state.withLock { state in
            state.rules.replace(rules)
            state.revision += 1
            hasRules.store(state.rules.isActive, ordering: .relaxed)
        }
    }

    /// Continues or fails the held transfers of a request; false if there is none.
    @discardableResult
    func decide(_ decision: Decision, _ id: Int) -> Bool {
        let held = state.withLock { $0.held.removeValue(forKey: id) }
        for waiter in held.map({ Array($0.values) }) ?? [] { waiter.resume(returning: decision) }
        return held != nil
    }

    /// Continues every held transfer.
    func releaseAll() {
        for id in heldRequests { decide(.proceed, id) }
    }

    /// A change of the record of a transfer.
    typealias Note = @Sendable (@escaping @Sendable (inout InspectedRequest) -> Void) -> Void

    /// What happens in place of a transfer; `nil` if no rule matches.
    ///
    /// Responses of downloads and streams are not mocked.
    func intervention(
        in request: TransportRequest, of description: RequestDescription, id: Int,
        note: @escaping Note
    ) -> TransferIntervention? {
        let (method, url) = (request.method.rawValue, request.url.string)
        let canMock = description.download == nil && !description.isStreamed
        guard
            let plan = state.withLock({ state in
                let plan = state.rules.plan(method: method, url: url, canMock: canMock)
                if plan != nil { state.revision += 1 }
                return plan
            })
        else { return nil }
        note { $0.transfers[$0.transfers.count - 1].rules = plan.names }
        let sent = request.body?.lengthToSend ?? 0
        return { [self] send in
            try await wait(plan.latency + plan.time(for: sent), note)
            if plan.isHeld { try await hold(id, note) }
            if let rule = plan.result {
                note { $0.transfers[$0.transfers.count - 1].isSimulated = true }
                return try Self.result(of: rule, request)
            }
            let response = try await send()
            if case .data(let data) = response.body, !response.isStreamed {
                try await wait(plan.time(for: Int64(data.count)), note)
            }
            return response
        }
    }

    /// Delays a transfer.
    private func wait(_ duration: Duration, _ note: Note) async throws {
        guard duration > .zero else { return }
        begin(.throttled, note)
        defer { finish(note) }
        try await clock.sleep(for: duration)
    }

    /// Holds a transfer until the page decides.
    private func hold(_ id: Int, _ note: Note) async throws {
        begin(.held, note)
        defer { finish(note) }
        let number = state.withLock { state in
            state.nextHold += 1
            return state.nextHold
        }
        let decision = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isCancelled = state.withLock { state in
                    if !Task.isCancelled { state.held[id, default: [:]][number] = continuation }
                    return Task.isCancelled
                }
                if isCancelled { continuation.resume(returning: .cancelled) }
            }
        } onCancel: {
            let waiter = self.state.withLock { state in
                let waiter = state.held[id]?.removeValue(forKey: number)
                if state.held[id]?.isEmpty == true { state.held[id] = nil }
                return waiter
            }
            waiter?.resume(returning: .cancelled)
        }
        switch decision {
        case .proceed: return
        case .cancelled: throw CancellationError()
        case .fail:
            throw RequestError(
                .connectionLost, stage: .transport, "The inspector failed the held request.")
        }
    }

    /// The response or the error that a rule makes.
    static func result(
        of rule: TransferRule, _ request: TransportRequest
    ) throws(RequestError) -> Response {
        guard rule.action == .mock else {
            let fault = rule.fault ?? .connectionLost
            throw RequestError(
                fault.code, stage: .transport,
                "The inspector simulated this error (\(fault.rawValue)).",
                timeout: fault == .timedOut ? .idle : nil)
        }
        var headers = HTTPFields()
        for header in rule.headers ?? [] {
            guard let name = HTTPField.Name(header.name) else { continue }
            headers.append(HTTPField(name: name, value: header.value))
        }
        let body = Data((rule.body ?? "").utf8)
        if headers[.contentType] == nil, !body.isEmpty {
            let isJSON = (try? JSON(parsing: body)) != nil
            headers[.contentType] = isJSON ? "application/json" : "text/plain; charset=utf-8"
        }
        return Response(
            status: HTTPResponse.Status(code: rule.status ?? 200), headers: headers,
            body: .data(body), url: request.url)
    }

    private func begin(_ activity: InspectedRequest.Activity, _ note: Note) {
        let now = clock.uptime
        note { request in
            request.enter(activity, at: now)
            request.transfers[request.transfers.count - 1].delays.append(
                InspectedTransfer.Delay(start: now, end: nil, isHeld: activity == .held))
        }
    }

    private func finish(_ note: Note) {
        let now = clock.uptime
        note { request in
            request.enter(.transferring, at: now)
            let last = request.transfers.count - 1
            let delay = request.transfers[last].delays.count - 1
            guard delay >= 0 else { return }
            request.transfers[last].delays[delay].end = now
        }
    }
}

extension TransferRule.Header {
    /// Whether the header can be a part of a message.
    var isValid: Bool { HTTPField.Name(name) != nil && HTTPField.isValidValue(value) }
}

extension TransferRule.Fault {
    var code: RequestError.Code {
        switch self {
        case .timedOut: .timedOut
        case .cannotFindHost: .cannotFindHost
        case .cannotConnect: .cannotConnect
        case .connectionLost: .connectionLost
        case .secureConnectionFailed: .secureConnectionFailed
        case .truncatedBody: .truncatedBody
        }
    }
}
