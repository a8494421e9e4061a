import Dispatch
import ErrandCore
import ErrandTransport
import Foundation
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
        private(set) var hasEnded = false

        enum Action: Sendable {
            case perform(ScriptedResponse.Step)
            case end(RequestError?)
            /// Nothing to do until the next call of `run()`.
            case wait
        }

        init(_ steps: [ScriptedResponse.Step]) { self.steps = steps[...] }

        mutating func next() -> Action {
            if hasEnded { return .wait }
            if let ending { return finish(ending) }
            if isPaused { return .wait }
            guard let step = steps.first else { return finish(nil) }
            if case .fail(let error) = step { return finish(error) }
            if case .hold(let gate) = step, !gate.isOpen { return .perform(step) }
            steps.removeFirst()
            if case .bytes = step { isDeliveringBytes = true }
            return .perform(step)
        }

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
    private let receiver: Mutex<(any TransferReceiver)?>
    private let ended = Mutex<(@Sendable () -> Void)?>(nil)
    /// The gate that holds the transfer, and the token of the arrival.
    private let heldAt = Mutex<(gate: Gate, token: Int)?>(nil)

    init(response: ScriptedResponse, request: TransportRequest, receiver: any TransferReceiver) {
        self.response = response
        self.receiver = Mutex(receiver)
        machine = Mutex(Machine(response.steps))
    }

    func onEnd(_ notify: @escaping @Sendable () -> Void) { ended.withLock { $0 = notify } }

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
                self.receiver.withLock { $0 = nil }
                ended.withLock { $0 }?()
                receiver.didEnd(
                    TransferEnd(
                        error: error, timings: response.timings, trailers: response.trailers))
            case .perform(.hold(let gate)):
                if gate.isOpen { continue }
                // A strong reference: the receiver must get its end even if the transfer was released.
                leaveGate()
                let token = gate.arrive { [self] in run() }
                heldAt.withLock { $0 = (gate, token) }
                return
            case .perform(.informational(let head)): receiver.didReceive(informational: head)
            case .perform(.head(let head)): receiver.didReceive(head: head)
            case .perform(.bytes(let data)):
                let demand = data.withUnsafeBytes { receiver.didReceive(bytes: $0) }
                machine.withLock { $0.delivered(demand) }
            case .perform(.fail): return
            }
        }
    }

    private func leaveGate() {
        guard let (gate, token) = heldAt.withLock({ $0.take() }) else { return }
        gate.leave(token)
    }
}
