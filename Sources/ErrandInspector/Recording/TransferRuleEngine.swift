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

    /// What happens in place of a transfer; `nil` if no rule matches.
    ///
    /// Responses of downloads and streams are not mocked.
    func intervention(
        in request: TransportRequest, attempt: Int, _ capture: InspectorCapture
    ) -> TransferIntervention? {
        guard isActive else { return nil }
        let (method, url) = (request.method.rawValue, request.url.string)
        let canMock = capture.record.start.canMock
        guard
            let plan = state.withLock({ state in
                let plan = state.rules.plan(method: method, url: url, canMock: canMock)
                if plan != nil { state.revision += 1 }
                return plan
            })
        else { return nil }
        let transfer = RuledTransfer(capture, request, attempt: attempt, rules: plan.names)
        let sent = request.body?.lengthToSend ?? 0
        return { [self] send in
            do {
                try await wait(plan.latency + plan.time(for: sent), transfer)
                if plan.isHeld { try await hold(transfer) }
                if let rule = plan.result {
                    transfer.change { $0.isSimulated = true }
                    let response = try Self.result(of: rule, request)
                    transfer.finish(response)
                    return response
                }
                let response = try await transfer.send(send)
                if case .data(let data) = response.body, !response.isStreamed {
                    try await wait(plan.time(for: Int64(data.count)), transfer)
                }
                return response
            } catch {
                transfer.fail(error as? RequestError ?? .cancelled)
                throw error
            }
        }
    }

    /// Delays a transfer.
    private func wait(_ duration: Duration, _ transfer: RuledTransfer) async throws {
        guard duration > .zero else { return }
        transfer.beginDelay(isHeld: false)
        defer { transfer.endDelay() }
        try await clock.sleep(for: duration)
    }

    /// Holds a transfer until the page decides.
    private func hold(_ transfer: RuledTransfer) async throws {
        let id = transfer.request
        transfer.beginDelay(isHeld: true)
        defer { transfer.endDelay() }
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
}

/// A transfer that rules change, in the record of its request.
struct RuledTransfer: Sendable {
    private let capture: InspectorCapture
    private let number: Int

    /// The number of the transfer that the current Swift task sends for a rule, so that it is not recorded twice.
    @TaskLocal static var number: Int?

    init(
        _ capture: InspectorCapture, _ request: TransportRequest, attempt: Int, rules: [String]
    ) {
        self.capture = capture
        let recorder = capture.recorder
        var transfer = InspectedTransfer(
            request, attempt: max(1, attempt), start: recorder.clock.uptime,
            bodyLimit: recorder.limits.bodyBytes)
        transfer.rules = rules
        number = recorder.add(transfer, to: capture.record)
    }

    /// The number of the request.
    var request: Int { capture.record.id }

    /// Changes the record.
    func change(_ change: (inout InspectedTransfer) -> Void) {
        capture.recorder.change(capture.record, number, change)
    }

    /// Sends the request.
    func send(
        _ send: @Sendable () async throws(RequestError) -> Response
    ) async throws -> Response {
        try await Self.$number.withValue(number) { try await send() }
    }

    /// Records a response that a rule made.
    func finish(_ response: Response) {
        let head = ResponseHead(
            status: response.status, headers: response.headers, httpVersion: response.httpVersion)
        capture.transferEnded(number, head, response.body, nil, Shared(TransferEnd()))
    }

    /// Records an error, unless the transfer has ended.
    func fail(_ error: RequestError) {
        let now = capture.recorder.clock.uptime
        change { transfer in
            guard transfer.end == nil else { return }
            transfer.finish(nil, nil, error, TransferEnd(), at: now, bodyLimit: 0)
        }
    }

    func beginDelay(isHeld: Bool) {
        let now = capture.recorder.clock.uptime
        change {
            $0.delays.append(InspectedTransfer.Delay(start: now, end: nil, isHeld: isHeld))
        }
    }

    func endDelay() {
        let now = capture.recorder.clock.uptime
        change { $0.delays[$0.delays.count - 1].end = now }
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
