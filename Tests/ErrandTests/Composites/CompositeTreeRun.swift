import Dispatch
import Errand
import ErrandTesting
import Synchronization
import Testing

/// Runs a ``CompositeTree`` and checks its outcome, the ends of all members and their order.
@MainActor struct CompositeTreeRun {
    enum Form: CaseIterable, Sendable { case send, closures, queue }
    enum Stop: Sendable { case cancel, deadline }

    /// The request of a tree.
    private final class Request: BaseRequest {
        private let path: String
        init(_ path: String) { self.path = path }
        override var url: EndpointURL { EndpointURL(raw: path) }
    }

    private struct WeakMember { weak var object: AnyObject? }

    let tree: CompositeTree
    let form: Form
    /// Stops the run when so many lifecycle events have occurred; `nil` for a run that ends by itself.
    var stop: (kind: Stop, event: Int)?
    let recorder = CompositeTreeRecorder()

    /// Runs the tree on an agent whose server responds to each request as its path says.
    ///
    /// - Parameters:
    ///   - clock: The clock of the agent, for deadlines.
    ///   - silent: The gates of the requests without a response.
    ///   - sent: The paths that reached the server; `nil` if it may not have received all of them.
    /// - Returns: The number of lifecycle events.
    @discardableResult
    func check(
        on agent: RequestAgent, _ clock: ManualClock?, silent: [Int: Gate] = [:],
        _ note: String, sent: () -> [String]?
    ) async throws -> Int {
        let task = Mutex<RequestTask?>(nil)
        let kind = stop?.kind ?? .cancel
        let isStopped = Mutex(false)
        @Sendable func stopNow() {
            isStopped.withLock { $0 = true }
            switch kind {
            case .cancel: task.withLock { $0 }?.cancel()
            case .deadline: clock?.advance(by: .seconds(10))
            }
        }
        let rootLines = "\(Self.number(tree))"
        recorder.observe { [stop] count, line in
            // The run has ended when the composite is notified of the stop.
            if count == stop?.event, line != "\(rootLines) willStop",
                line != "\(rootLines) didStop",
                line != "\(rootLines) willCancel"
            {
                stopNow()
            }
        }
        let waiting = tree.waiting.compactMap { silent[$0] }
        let stopper = Task {
            guard !waiting.isEmpty else { return }
            for gate in waiting { try await gate.reached() }
            if kind == .deadline { try await clock?.untilSleeping() }
            stopNow()
        }
        let (error, members) = await run(on: agent) { started in task.withLock { $0 = started } }
        stopper.cancel()
        recorder.observe { _, _ in }
        let wasStopped = isStopped.withLock { $0 }
        checkOutcome(error, wasStopped: wasStopped, kind, note)
        checkRequests(wasStopped: wasStopped, sent(), note)
        checkEvents(note)
        for _ in 0..<5000 where members.contains(where: { $0.object != nil }) { await Task.yield() }
        #expect(members.allSatisfy { $0.object == nil }, "leak: \(note)")
        return recorder.lines.count
    }

    private static func number(_ tree: CompositeTree) -> Int {
        switch tree {
        case .request(let number, _), .batch(let number, _, _, _), .chain(let number, _, _): number
        }
    }

    // MARK: - The run

    private func run(
        on agent: RequestAgent, _ started: @escaping @Sendable (RequestTask) -> Void
    ) async -> (RequestError?, [WeakMember]) {
        let deadline: Duration? = stop?.kind == .deadline ? .seconds(10) : nil
        if form == .queue {
            var ignored: [WeakMember] = []
            let error: RequestError?
            switch Self.make(tree, recorder, deadline, &ignored) {
            case let batch as BatchRequest:
                nonisolated(unsafe) let batch = batch
                error = await BatchRequest.endedOnQueue(batch, on: agent, onStart: started).failure
            case let chain as ChainRequest:
                nonisolated(unsafe) let chain = chain
                error = await ChainRequest.endedOnQueue(chain, on: agent, onStart: started).failure
            default: error = .cancelled
            }
            return (error, [])
        }
        var members: [WeakMember] = []
        let root = Self.make(tree, recorder, deadline, &members)
        let error = await (form == .send ? send(root, agent, started) : start(root, agent, started))
        #expect(root.task == nil)
        return (error, members)
    }

    private func send(
        _ root: RequestUnit, _ agent: RequestAgent, _ started: (RequestTask) -> Void
    ) async -> RequestError? {
        do throws(RequestError) {
            if let batch = root as? BatchRequest {
                try await batch.send(on: agent, onStart: started)
            }
            if let chain = root as? ChainRequest {
                try await chain.send(on: agent, onStart: started)
            }
            return nil
        } catch {
            return error
        }
    }

    private func start(
        _ root: RequestUnit, _ agent: RequestAgent, _ started: (RequestTask) -> Void
    ) async -> RequestError? {
        if let batch = root as? BatchRequest {
            return await batch.ended(on: agent, onStart: started).failure
        }
        return await (root as? ChainRequest)?.ended(on: agent, onStart: started).failure
    }

    private static func make(
        _ tree: CompositeTree, _ recorder: CompositeTreeRecorder, _ deadline: Duration? = nil,
        _ made: inout [WeakMember]
    ) -> RequestUnit {
        switch tree {
        case .request(let number, let outcome):
            let request = Request(CompositeTree.path(number, outcome))
            request.tag = number
            request.accessories = [recorder]
            made.append(WeakMember(object: request))
            return request
        case .batch(let number, let policy, let isSerial, let members):
            let batch = BatchRequest(
                members.map { make($0, recorder, nil, &made) }, policy: policy,
                maxConcurrent: isSerial ? 1 : nil)
            batch.tag = number
            batch.deadline = deadline
            batch.accessories = [recorder]
            made.append(WeakMember(object: batch))
            return batch
        case .chain(let number, let proceeds, let members):
            let chain = ChainRequest()
            chain.tag = number
            chain.deadline = deadline
            chain.accessories = [recorder]
            for (index, member) in members.enumerated() {
                add(make(member, recorder, nil, &made), to: chain, isMade: index % 2 == 1)
            }
            if proceeds { chain.recover { _, _ in .proceed } }
            made.append(WeakMember(object: chain))
            return chain
        }
    }

    private static func add<Member: RequestUnit>(
        _ member: Member, to chain: ChainRequest, isMade: Bool
    ) {
        switch member {
        case let request as Request where isMade: chain.add { request }
        case let batch as BatchRequest where isMade: chain.add { batch }
        case let inner as ChainRequest where isMade: chain.add { inner }
        default: chain.add(member)
        }
    }

    // MARK: - Checks

    private func checkOutcome(
        _ error: RequestError?, wasStopped: Bool, _ kind: Stop, _ note: String
    ) {
        switch (wasStopped, kind) {
        case (false, _):
            #expect(
                error?.code == (tree.outcome == .failure ? .unacceptableStatus : nil), "\(note)")
        case (true, .cancel): #expect(error?.code == .cancelled, "\(note)")
        case (true, .deadline):
            // The timer can fire after the run has ended.
            let own: RequestError.Code? = tree.outcome == .failure ? .unacceptableStatus : nil
            let isOwn = tree.outcome != .none && error?.code == own
            #expect(error?.code == .timedOut || isOwn, "\(note)")
        }
    }

    private func checkRequests(wasStopped: Bool, _ sent: [String]?, _ note: String) {
        #expect(Set(sent ?? []).count == (sent ?? []).count, "sent twice: \(note)")
        let expectations = tree.expectations()
        let ends = recorder.ends
        for (number, outcome) in tree.requests {
            let isSent = sent?.contains("/" + CompositeTree.path(number, outcome))
            let own: RequestError.Code? = outcome == .failure ? .unacceptableStatus : nil
            let end = ends[number]
            let isOwn = outcome != .none && end == .some(own)
            switch expectations[number] {
            case .own where !wasStopped:
                #expect(isSent != false && isOwn, "\(number): \(note)")
            case .notSent:
                let isUntouched = end == nil || end == .some(.cancelled)
                #expect(isSent != true && isUntouched, "\(number): \(note)")
            default:
                // Sent or not, it has its own end or was cancelled, or it was not described at all.
                #expect(end == nil || end == .some(.cancelled) || isOwn, "\(number): \(note)")
                #expect(isSent != true || end != nil, "\(number): \(note)")
            }
        }
    }

    private func checkEvents(_ note: String) {
        let events = recorder.events
        check(tree, events, note)
        #expect(events[Self.number(tree)] != nil, "\(note)")
    }

    /// Checks that each member has one start and one end, between those of its composite.
    private func check(
        _ tree: CompositeTree, _ events: [Int: [(event: String, position: Int)]], _ note: String
    ) {
        let number = Self.number(tree)
        let own = events[number] ?? []
        let names = own.map(\.event)
        #expect(
            own.isEmpty
                || names.filter { $0 != "willCancel" } == ["willStart", "willStop", "didStop"],
            "\(number): \(note)")
        #expect(names.count { $0 == "willCancel" } <= 1, "\(number): \(note)")
        for member in tree.members {
            let inner = events[Self.number(member)] ?? []
            if let first = inner.first?.position, let last = inner.last?.position, own.count >= 3 {
                let stop = own.first { $0.event == "willStop" }?.position ?? 0
                #expect(own[0].position < first && last < stop, "\(number): \(note)")
            }
            check(member, events, note)
        }
    }
}

/// Records the lifecycle events of all members of a tree by their tags, on any thread.
final class CompositeTreeRecorder: RequestAccessory, Sendable {
    private struct State {
        var lines: [String] = []
        var ends: [Int: RequestError.Code?] = [:]
        var observer: @Sendable (Int, String) -> Void = { _, _ in }
    }

    private let state = Mutex(State())

    /// Calls the closure with the number of events so far and the last one.
    func observe(_ observer: @escaping @Sendable (Int, String) -> Void) {
        state.withLock { $0.observer = observer }
    }

    /// The lines "number event" in order.
    var lines: [String] { state.withLock { $0.lines } }

    /// The codes of the errors of the ended requests.
    var ends: [Int: RequestError.Code?] { state.withLock { $0.ends } }

    /// The events of each member with their positions.
    var events: [Int: [(event: String, position: Int)]] {
        var events: [Int: [(event: String, position: Int)]] = [:]
        for (position, line) in lines.enumerated() {
            let parts = line.split(separator: " ")
            events[Int(parts[0]) ?? 0, default: []].append((String(parts[1]), position))
        }
        return events
    }

    private func add(_ line: String) {
        let (count, observer) = state.withLock { state in
            state.lines.append(line)
            return (state.lines.count, state.observer)
        }
        observer(count, line)
    }

    func notify(_ event: RequestUnit.LifecycleEvent, of unit: RequestUnit) {
        if event == .didStop, unit is BaseRequest {
            let (tag, code) = (unit.tag, unit.error?.code)
            state.withLock { _ = $0.ends.updateValue(code, forKey: tag) }
        }
        add("\(unit.tag) \(event)")
    }
}
