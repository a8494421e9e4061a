import Synchronization

/// The transfers under way that others may join, by key.
package final class FlightTable: Sendable {
    private let flights = Mutex<[CacheKey: Flight]>([:])

    package init() {}

    /// The flight of a key that others are on, or the new one, now in the table.
    func flight(for key: CacheKey, orAdd new: Flight) -> (flight: Flight, isNew: Bool) {
        flights.withLock { flights in
            if let flight = flights[key], flight.board() { return (flight, false) }
            flights[key] = new
            return (new, true)
        }
    }

    func current(for key: CacheKey) -> Flight? { flights.withLock { $0[key] } }

    func replace(_ key: CacheKey, with new: Flight) -> Flight? {
        flights.withLock { flights in
            let old = flights[key]
            flights[key] = new
            return old
        }
    }

    /// Takes a flight out, unless another has taken its place.
    func remove(_ key: CacheKey, _ flight: Flight) {
        flights.withLock { flights in
            if flights[key] === flight { flights[key] = nil }
        }
    }

    package var count: Int { flights.withLock { $0.count } }
}
