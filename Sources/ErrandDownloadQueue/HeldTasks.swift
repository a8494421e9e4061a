import ErrandCore
import Synchronization

/// The tasks that the bandwidth limit suspends and resumes together.
final class HeldTasks: Sendable {
    private struct State {
        var tasks: [RequestTask] = []
        var isHeld = false
    }

    private let state = Mutex(State())

    func add(_ task: RequestTask) {
        state.withLock { $0.tasks.append(task) }
        settle(task)
    }

    func remove(_ task: RequestTask) { state.withLock { $0.tasks.removeAll { $0 === task } } }

    func hold(_ isHeld: Bool) {
        let tasks = state.withLock { state in
            state.isHeld = isHeld
            return state.tasks
        }
        for task in tasks { settle(task) }
    }

    /// Repeated until nothing changes, so that the later one of two concurrent changes takes effect last.
    private func settle(_ task: RequestTask) {
        while true {
            let isHeld = state.withLock { $0.isHeld }
            isHeld ? task.suspend() : task.resume()
            if state.withLock({ $0.isHeld }) == isHeld { return }
        }
    }
}
