import ErrandCore
import ErrandSystem
import ErrandTransport
import Synchronization

/// Performs the steps of one scripted response on its own queue.
final class ScriptedTransfer: Transfer {
    /// Decides the next step of the transfer.
    ///
    /// A pure state machine.
    struct Machine: Sendable {
        private var steps: ArraySlice<ScriptedResponse.Step>
        private var isPaused = false
        private var isDeliveringBytes = false
        /// Another thread resumed the receiver before its call returned `.pause`.
        private var wasResumedDuringCall = false
        private var ending: RequestError?
        private var isConversing = false
        private(set) var hasEnded = false

        enum Action: Sendable {
            case perform(ScriptedResponse.Step)
            /// Goes on with the WebSocket.
            case converse(mayDeliver: Bool)
            case end(RequestError?)
            /// Nothing to do until the next call of `run()`.
            case wait
        }

        init(_ steps: [ScriptedResponse.Step]) { self.steps = steps[...] }

        mutating func next() -> Action {
            if hasEnded { return .wait }
            if let ending { return finish(ending) }
            if isConversing { return .converse(mayDeliver: !isPaused) }
            if isPaused { return .wait }
            guard let step = steps.first else { return finish(nil) }
            if case .fail(let error) = step { return finish(error) }
            if case .hold(let gate) = step, !gate.isOpen { return .perform(step) }
            steps.removeFirst()
            if case .bytes = step { isDeliveringBytes = true }
            if case .webSocket = step { isConversing = true }
            return .perform(step)
        }

        mutating func willDeliver() { isDeliveringBytes = true }

        /// The conversation is over, without an error.
        mutating func conversationEnded() { (isConversing, steps) = (false, []) }

        mutating func delivered(_ demand: Demand) {
            isDeliveringBytes = false
            defer { wasResumedDuringCall = false }
            switch demand {
            case .more: break
            case .pause: isPaused = !wasResumedDuringCall
            case .stop: end(.cancelled)
            }
        }

        mutating func resume() {
            isPaused = false
            if isDeliveringBytes { wasResumedDuringCall = true }
        }

        mutating func end(_ error: RequestError) {
            if ending == nil, !hasEnded { ending = error }
        }

        private mutating func finish(_ error: RequestError?) -> Action {
            hasEnded = true
            steps = []
            return .end(error)
        }
    }

    private let queue = DispatchQueue(label: "errand.scripted")
    private let machine: Mutex<Machine>
    private let response: ScriptedResponse
    private let request: TransportRequest
    private let socket = Mutex<ScriptedSocket?>(nil)
    private let failed = Mutex<(@Sendable (String) -> Void)?>(nil)
    private let receiver: Mutex<(any TransferReceiver)?>
    private let ended = Mutex<(@Sendable () -> Void)?>(nil)
    /// The gate that holds the transfer, and the token of the arrival.
    private let heldAt = Mutex<(gate: Gate, token: Int)?>(nil)

    init(response: ScriptedResponse, request: TransportRequest, receiver: any TransferReceiver) {
        self.response = response
        self.request = request
        self.receiver = Mutex(receiver)
        machine = Mutex(Machine(response.steps))
    }

    func onEnd(_ notify: @escaping @Sendable () -> Void) { ended.withLock { $0 = notify } }

    /// Calls a closure if the client of a WebSocket does not do what its script expects.
    func onFailure(_ notify: @escaping @Sendable (String) -> Void) {
        failed.withLock { $0 = notify }
    }

    func cancel() { end(with: .cancelled) }

    func end(with error: RequestError) {
        machine.withLock { $0.end(error) }
        run()
    }

    func resumeReceiving() {
        machine.withLock { $0.resume() }
        run()
    }

    func run() {
        queue.async { [self] in play() }
    }

    private func play() {
        while let receiver = receiver.withLock({ $0 }) {
            switch machine.withLock({ $0.next() }) {
            case .wait: return
            case .end(let error):
                leaveGate()
                socket.withLock { $0 = nil }
                self.receiver.withLock { $0 = nil }
                ended.withLock { $0 }?()
                receiver.didEnd(
                    TransferEnd(
                        error: error, timings: response.timings, trailers: response.trailers))
            case .perform(.hold(let gate)):
                if gate.isOpen { continue }
                leaveGate()
                arrive(at: gate)
                return
            case .perform(.informational(let head)): receiver.didReceive(informational: head)
            case .perform(.head(let head)): receiver.didReceive(head: head)
            case .perform(.bytes(let data)):
                let demand = data.withUnsafeBytes { receiver.didReceive(bytes: $0) }
                machine.withLock { $0.delivered(demand) }
            case .perform(.fail): return
            case .perform(.webSocket(let script)):
                do throws(RequestError) {
                    let socket = try ScriptedSocket(script, request, receiver)
                    self.socket.withLock { $0 = socket }
                } catch {
                    failed.withLock { $0 }?(error.message)
                    machine.withLock { $0.end(error) }
                }
            case .converse(let mayDeliver):
                guard let socket = socket.withLock({ $0 }) else { return }
                guard converse(socket, receiver, mayDeliver) else { return }
            }
        }
    }

    /// Performs the next step of a WebSocket; returns false if it waits.
    private func converse(
        _ socket: ScriptedSocket, _ receiver: any TransferReceiver, _ mayDeliver: Bool
    ) -> Bool {
        let action = socket.next(mayDeliver: mayDeliver, wake: { [self] in run() })
        if let text = socket.takeFailure() { failed.withLock { $0 }?(text) }
        switch action {
        case .wait: return false
        case .hold(let gate):
            // The client may have sent something while the script waits at the gate.
            if heldAt.withLock({ $0?.gate === gate }) { return false }
            leaveGate()
            arrive(at: gate)
            return false
        case .deliver(let data):
            machine.withLock { $0.willDeliver() }
            let demand = data.withUnsafeBytes { receiver.didReceive(bytes: $0) }
            machine.withLock { $0.delivered(demand) }
        case .end: machine.withLock { $0.conversationEnded() }
        case .failed(let error): machine.withLock { $0.end(error) }
        }
        return true
    }

    private func arrive(at gate: Gate) {
        // A strong reference: the receiver must get its end even if the transfer was released.
        let token = gate.arrive { [self] in run() }
        heldAt.withLock { $0 = (gate, token) }
    }

    private func leaveGate() {
        guard let (gate, token) = heldAt.withLock({ $0.take() }) else { return }
        gate.leave(token)
    }
}
