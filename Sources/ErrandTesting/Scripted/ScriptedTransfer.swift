import Dispatch
import ErrandCore
import Foundation
import Synchronization

/// Plays one script to one receiver, on a queue of its own.
final class ScriptedTransfer: Transfer {
    /// What to do next; the whole life of the transfer, without effects.
    struct Machine: Sendable {
        private var steps: ArraySlice<ScriptedAnswer.Step>
        private var isPaused = false
        private var isTellingBytes = false
        /// A receiver may be resumed by another thread before its `.pause` has come back here.
        private var wasResumedMeanwhile = false
        private var ending: RequestError?
        private(set) var hasEnded = false

        enum Action: Sendable {
            case perform(ScriptedAnswer.Step)
            case end(RequestError?)
            /// Nothing now; the next call of `run` comes from outside.
            case wait
        }

        init(_ steps: [ScriptedAnswer.Step]) { self.steps = steps[...] }

        mutating func next() -> Action {
            if hasEnded { return .wait }
            if let ending { return finish(ending) }
            if isPaused { return .wait }
            guard let step = steps.first else { return finish(nil) }
            if case .fail(let error) = step { return finish(error) }
            if case .hold(let gate) = step, !gate.isOpen { return .perform(step) }
            steps.removeFirst()
            if case .bytes = step { isTellingBytes = true }
            return .perform(step)
        }

        mutating func heard(_ demand: Demand) {
            isTellingBytes = false
            defer { wasResumedMeanwhile = false }
            switch demand {
            case .more: break
            case .pause: isPaused = !wasResumedMeanwhile
            case .stop: end(.cancelled)
            }
        }

        mutating func resume() {
            isPaused = false
            if isTellingBytes { wasResumedMeanwhile = true }
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
    private let answer: ScriptedAnswer
    private let receiver: Mutex<(any TransferReceiver)?>
    private let ended = Mutex<(@Sendable () -> Void)?>(nil)
    /// Where it stands, while it does: the gate knows it, and it the gate.
    private let standing = Mutex<(gate: Gate, token: Int)?>(nil)

    init(answer: ScriptedAnswer, request: TransportRequest, receiver: any TransferReceiver) {
        self.answer = answer
        self.receiver = Mutex(receiver)
        machine = Mutex(Machine(answer.steps))
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
                    TransferEnd(error: error, timings: answer.timings, trailers: answer.trailers))
            case .perform(.hold(let gate)):
                if gate.isOpen { continue }
                // Held until the gate opens or the transfer ends: the receiver was promised an end.
                leaveGate()
                let token = gate.arrive { [self] in run() }
                standing.withLock { $0 = (gate, token) }
                return
            case .perform(.informational(let head)): receiver.didReceive(informational: head)
            case .perform(.head(let head)): receiver.didReceive(head: head)
            case .perform(.bytes(let data)):
                let demand = data.withUnsafeBytes { receiver.didReceive(bytes: $0) }
                machine.withLock { $0.heard(demand) }
            case .perform(.fail): return
            }
        }
    }

    private func leaveGate() {
        guard let (gate, token) = standing.withLock({ $0.take() }) else { return }
        gate.leave(token)
    }
}
