import ErrandHTTP

/// A queue of waiters, admitted one at a time in the order of their tickets; pure state.
///
/// A waiter takes its position before its continuation exists, because the queue changes under a
/// lock that must not be held across a suspension. A waiter admitted before its continuation is
/// registered gets `.called` from ``arrive(_:_:)``.
package struct TicketQueue<Call> {
    /// A position in the queue, ordered by ticket; equal tickets by order of arrival.
    package struct Position: Hashable, Comparable, Sendable {
        let ticket: UInt64
        let number: UInt64

        package static func < (one: Position, other: Position) -> Bool {
            (one.ticket, one.number) < (other.ticket, other.number)
        }
    }

    private enum Waiter {
        /// Has a position; its continuation does not exist yet.
        case queued
        case ready(Call)
        /// Admitted before its continuation was registered.
        case called
    }

    private var order = IndexedHeap<Position, Position>()
    private var waiters: [Position: Waiter] = [:]
    private var count: UInt64 = 0

    package init() {}

    package mutating func enter(ticket: UInt64) -> Position {
        count += 1
        let position = Position(ticket: ticket, number: count)
        order.set(position, for: position)
        waiters[position] = .queued
        return position
    }

    /// The state that a waiter finds when it registers its continuation.
    package enum Arrival { case called, gone, waits }

    /// Registers a waiter's call, which is kept if the waiter has to wait.
    package mutating func arrive(_ position: Position, _ call: Call) -> Arrival {
        switch waiters[position] {
        case .queued, .ready:
            waiters[position] = .ready(call)
            return .waits
        case .called:
            waiters[position] = nil
            return .called
        case nil: return .gone
        }
    }

    /// The effect of a waiter's cancellation.
    package enum Cancellation {
        /// The waiter's call, which the caller must resume.
        case waited(Call)
        /// The waiter has no call yet, or is no longer in the queue: nothing to do.
        case ignored
        /// The waiter was already admitted: the caller must admit the next one.
        case admitsNext
    }

    /// Removes a cancelled waiter.
    package mutating func cancel(_ position: Position) -> Cancellation {
        let waiter = waiters.removeValue(forKey: position)
        order.remove(position)
        switch waiter {
        case .ready(let call): return .waited(call)
        case .called: return .admitsNext
        case .queued, nil: return .ignored
        }
    }

    /// The result of admitting the next waiter.
    package enum Admission {
        case call(Call)
        /// The next waiter is admitted and has no call yet; ``arrive(_:_:)`` will report it.
        case notReady
        case empty
    }

    /// Admits the next waiter.
    package mutating func next() -> Admission {
        guard let position = order.popFirst() else { return .empty }
        if case .ready(let call)? = waiters[position] {
            waiters[position] = nil
            return .call(call)
        }
        waiters[position] = .called
        return .notReady
    }
}
