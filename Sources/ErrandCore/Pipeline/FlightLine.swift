import Synchronization

/// Who waits until an identical request has ended, by key: one is let through, the others stand in line.
final class FlightLine: Sendable {
    private struct Line {
        var order = RankedHeap<UInt64, UInt64>()
        var turns: [UInt64: CheckedContinuation<Bool, Never>] = [:]

        mutating func add(_ id: UInt64, _ turn: CheckedContinuation<Bool, Never>) {
            order.set(id, for: id)
            turns[id] = turn
        }

        mutating func remove(_ id: UInt64) -> CheckedContinuation<Bool, Never>? {
            order.remove(id)
            return turns.removeValue(forKey: id)
        }
    }

    private struct State {
        /// A key is here for as long as somebody has been let through.
        var lines: [CacheKey: Line] = [:]
        var nextID: UInt64 = 0
    }

    private let state = Mutex(State())

    /// Waits for one's turn; false when the scope was cancelled meanwhile, and then there is nothing to leave.
    ///
    /// - Parameter waits: Called where it is not one's turn at once.
    func enter(_ key: CacheKey, _ scope: CancellationScope, waits: () -> Void) async -> Bool {
        let place = state.withLock { state -> UInt64? in
            guard state.lines[key] != nil else {
                state.lines[key] = Line()
                return nil
            }
            state.nextID += 1
            return state.nextID
        }
        guard let place else { return true }
        waits()
        return await scope.wait {
            await withCheckedContinuation { turn in
                let now = state.withLock { state -> Bool? in
                    if scope.isCancelled { return false }
                    // The last one may have left meanwhile.
                    guard state.lines[key] != nil else {
                        state.lines[key] = Line()
                        return true
                    }
                    state.lines[key]?.add(place, turn)
                    return nil
                }
                if let now { turn.resume(returning: now) }
            }
        } onCancel: {
            let turn = self.state.withLock { $0.lines[key]?.remove(place) }
            turn?.resume(returning: false)
        }
    }

    /// Lets the next one through.
    func leave(_ key: CacheKey) {
        let turn = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            guard let place = state.lines[key]?.order.popFirst() else {
                state.lines[key] = nil
                return nil
            }
            return state.lines[key]?.turns.removeValue(forKey: place)
        }
        turn?.resume(returning: true)
    }

    /// For how many keys somebody was let through.
    var count: Int { state.withLock { $0.lines.count } }
}
