import Errand
import ErrandOutbox
import ErrandTesting
import Foundation
import Synchronization

/// A memory store that records its writes, can hold calls at a gate, and can fail removals.
final class OutboxTestStore: OutboxStore {
    /// The calls that wait at the gate.
    enum HeldCalls: Equatable {
        case none
        /// Every `entries()`.
        case reads
        /// The update or removal with this number, starting at 1.
        case write(Int)
    }

    let gate = Gate()
    /// Opens when the first write has finished.
    let firstChange = Gate()
    private let memory = MemoryOutboxStore()
    private let state = Mutex((begun: 0, writing: 0, changes: [String]()))
    private let held: HeldCalls
    private let failsRemovals: Bool

    init(holding held: HeldCalls = .none, failsRemovals: Bool = false) {
        self.held = held
        self.failsRemovals = failsRemovals
    }

    /// The number of writes in progress.
    var writing: Int { state.withLock { $0.writing } }
    /// The finished writes, in order.
    var changes: [String] { state.withLock { $0.changes } }

    func append(_ entry: OutboxEntry) async throws(RequestError) -> OutboxEntry {
        try await memory.append(entry)
    }

    func update(_ entry: OutboxEntry) async throws(RequestError) {
        await begin()
        defer { end(entry.isParked ? "parked" : "unparked") }
        try await memory.update(entry)
    }

    func remove(_ id: UUID) async throws(RequestError) {
        await begin()
        defer { end("removed") }
        if failsRemovals { throw RequestError(.storeFailed, stage: .cache, "The disk is gone.") }
        try await memory.remove(id)
    }

    func entries() async throws(RequestError) -> [OutboxEntry] {
        if held == .reads { try? await gate.passed() }
        return try await memory.entries()
    }

    private func begin() async {
        let number = state.withLock { state in
            state.begun += 1
            state.writing += 1
            return state.begun
        }
        if held == .write(number) { try? await gate.passed() }
    }

    private func end(_ change: String) {
        state.withLock { state in
            state.writing -= 1
            state.changes.append(change)
        }
        firstChange.open()
    }
}
