import Synchronization

/// Who waits until an identical request has ended, by key: one is let through, the others stand in line.
///
/// Of those who stand there the one with the lowest ticket is next, whoever was ready first.
final class FlightLine: Sendable {
    private typealias Line = TurnLine<CheckedContinuation<Bool, Never>>

    /// A line is here for as long as somebody has been let through.
    private let lines = Mutex<[FlightKey: Line]>([:])

    /// Waits for one's turn; false when the scope was cancelled meanwhile, and then there is nothing to leave.
    ///
    /// - Parameters:
    ///   - ticket: Those with lower ones come first.
    ///   - waits: Called where it is not one's turn at once.
    func enter(
        _ key: FlightKey, ticket: UInt64, _ scope: CancellationScope, waits: () -> Void
    ) async -> Bool {
        let place = lines.withLock { lines -> Line.Place? in
            guard lines[key] != nil else {
                lines[key] = Line()
                return nil
            }
            return lines[key]?.enter(ticket: ticket)
        }
        guard let place else { return true }
        waits()
        return await scope.wait {
            await withCheckedContinuation { call in
                switch lines.withLock({ $0[key]?.arrive(place, call) ?? .gone }) {
                case .waits: break
                case .called: call.resume(returning: true)
                case .gone: call.resume(returning: false)
                }
            }
        } onCancel: {
            switch self.lines.withLock({ $0[key]?.giveUp(place) ?? .silent }) {
            case .waited(let call): call.resume(returning: false)
            case .passes: self.leave(key)
            case .silent: break
            }
        }
    }

    /// Lets the next one through.
    func leave(_ key: FlightKey) {
        let turn = lines.withLock { lines in
            let turn = lines[key]?.next() ?? .nobody
            if case .nobody = turn { lines[key] = nil }
            return turn
        }
        if case .call(let call) = turn { call.resume(returning: true) }
    }

    /// For how many keys somebody was let through.
    var count: Int { lines.withLock { $0.count } }
}
