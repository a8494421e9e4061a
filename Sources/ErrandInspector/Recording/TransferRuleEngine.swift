import ErrandCore
import ErrandHTTP
import ErrandSystem
import ErrandTransport
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
        /// The speed limits of requests in progress, by the number of the request.
        var paces: [Int: TransferPace] = [:]
    }

    private let state = Mutex(State())
    private let hasRules = Atomic(false)
    private let hasPaces = Atomic(false)
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

    /// The speed limit of a request; its transfers share it, for example those of a download in parallel ranges.
    private func pace(of id: Int, bytesPerSecond: Int) -> TransferPace {
        state.withLock { state in
            let known = state.paces[id]
            if let known, known.bytesPerSecond == bytesPerSecond { return known }
            let pace = TransferPace(bytesPerSecond: bytesPerSecond, clock: clock)
            state.paces.updateValue(pace, forKey: id)
            hasPaces.store(true, ordering: .relaxed)
            return pace
        }
    }

    /// Releases the speed limit of a request.
    func requestEnded(_ id: Int) {
        guard hasPaces.load(ordering: .relaxed) else { return }
        state.withLock { state in
            state.paces.removeValue(forKey: id)
            hasPaces.store(!state.paces.isEmpty, ordering: .relaxed)
        }
    }

    /// The number of requests that have a speed limit.
    var paceCount: Int { state.withLock { $0.paces.count } }

    /// What happens in place of a transfer; `nil` if no rule matches.
    ///
    /// It delays or holds the transfer. ``RuledTransport`` does the rest.
    func intervention(
        in request: TransportRequest, attempt: Int, _ capture: InspectorCapture
    ) -> TransferIntervention? {
        guard isActive else { return nil }
        let (method, url) = (request.method.rawValue, request.url.string)
        guard
            let plan = state.withLock({ state in
                let plan = state.rules.plan(method: method, url: url)
                if plan != nil { state.revision += 1 }
                return plan
            })
        else { return nil }
        let pace = plan.bytesPerSecond.map { self.pace(of: capture.record.id, bytesPerSecond: $0) }
        let transfer = RuledTransfer(capture, request, attempt: attempt, plan, pace)
        // A simulated transfer does not read the body, so the time for it is a part of the delay.
        let unread = plan.isSimulated ? request.body?.lengthToSend ?? 0 : 0
        return { [self] send in
            do {
                try await wait(plan.latency + plan.time(for: unread), transfer)
                if plan.isHeld { try await hold(transfer) }
                if plan.isSimulated { transfer.change { $0.isSimulated = true } }
                return try await transfer.send(send)
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
}

/// A transfer that rules change, in the record of its request.
struct RuledTransfer: Sendable {
    private let capture: InspectorCapture
    private let plan: TransferRules.Plan
    private let pace: TransferPace?
    /// The number of the transfer.
    let number: Int

    /// The transfers that the current Swift task sends for rules, by the recorders: they are not recorded twice.
    @TaskLocal private static var current: [ObjectIdentifier: RuledTransfer] = [:]

    /// The transfer that the current Swift task sends for a rule of a recorder.
    static func of(_ recorder: InspectorRecorder) -> RuledTransfer? {
        let current = current
        return current.isEmpty ? nil : current[ObjectIdentifier(recorder)]
    }

    init(
        _ capture: InspectorCapture, _ request: TransportRequest, attempt: Int,
        _ plan: TransferRules.Plan, _ pace: TransferPace?
    ) {
        self.capture = capture
        self.plan = plan
        self.pace = pace
        let recorder = capture.recorder
        var transfer = InspectedTransfer(
            request, attempt: max(1, attempt), start: recorder.clock.uptime,
            bodyLimit: recorder.limits.bodyBytes)
        transfer.rules = plan.names
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
        var current = Self.current
        current[ObjectIdentifier(capture.recorder)] = self
        return try await Self.$current.withValue(current) { try await send() }
    }

    /// The transport that performs the transfer; `nil` if the rules only delay or hold it.
    func transport(over transport: any Transport) -> (any Transport)? {
        guard pace != nil || plan.result != nil else { return nil }
        return RuledTransport(
            inner: transport, plan: plan, pace: pace, clock: capture.recorder.clock)
    }

    /// Records an error, unless the transfer has ended.
    func fail(_ error: RequestError) {
        let now = capture.recorder.clock.uptime
        change { transfer in
            guard transfer.end == nil else { return }
            transfer.finish(nil, nil, error, Shared(TransferEnd()), at: now, bodyLimit: 0)
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
