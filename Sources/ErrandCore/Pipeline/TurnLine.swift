/// Who waits behind one that was let through: a pure machine.
///
/// A place in line is taken before there is anything to be called by, since a function must not wait while it changes
/// the line. Who is called meanwhile finds so when he is ready.
struct TurnLine<Call> {
    /// A place in line: by the ticket, and of equal ones by who came first.
    struct Place: Hashable, Comparable, Sendable {
        let ticket: UInt64
        let number: UInt64

        static func < (one: Place, other: Place) -> Bool {
            (one.ticket, one.number) < (other.ticket, other.number)
        }
    }

    private enum Waiter {
        /// Has his place and is not ready yet.
        case coming
        case ready(Call)
        /// Was called before he was ready; nobody else is let through.
        case called
    }

    private var order = RankedHeap<Place, Place>()
    private var waiters: [Place: Waiter] = [:]
    private var count: UInt64 = 0

    /// Takes a place.
    mutating func enter(ticket: UInt64) -> Place {
        count += 1
        let place = Place(ticket: ticket, number: count)
        order.set(place, for: place)
        waiters[place] = .coming
        return place
    }

    /// What somebody finds who is ready to be called.
    enum Arrival { case called, gone, waits }

    /// Somebody is ready; the call is kept where he has to wait.
    mutating func arrive(_ place: Place, _ call: Call) -> Arrival {
        switch waiters[place] {
        case .coming, .ready:
            waiters[place] = .ready(call)
            return .waits
        case .called:
            waiters[place] = nil
            return .called
        case nil: return .gone
        }
    }

    /// What comes of somebody's giving up.
    enum Departure {
        /// His call, to be told that it is in vain.
        case waited(Call)
        /// He was not ready yet, or is not here any more.
        case silent
        /// It was his turn: the next one is to be let through.
        case passes
    }

    /// Somebody gives up.
    mutating func giveUp(_ place: Place) -> Departure {
        let waiter = waiters.removeValue(forKey: place)
        order.remove(place)
        switch waiter {
        case .ready(let call): return .waited(call)
        case .called: return .passes
        case .coming, nil: return .silent
        }
    }

    /// What comes of the end of whoever was let through.
    enum Turn {
        case call(Call)
        /// The next one is not ready; it is his turn all the same.
        case isHis
        case nobody
    }

    /// Lets the next one through.
    mutating func next() -> Turn {
        guard let place = order.popFirst() else { return .nobody }
        if case .ready(let call)? = waiters[place] {
            waiters[place] = nil
            return .call(call)
        }
        waiters[place] = .called
        return .isHis
    }
}
