import Synchronization

/// The transfers under way that others may join, by key.
package final class FlightTable: Sendable {
    private let flights = Mutex<[FlightKey: Flight]>([:])

    package init() {}

    /// A seat on the flight of a key that others are on; `nil` when there was none, and the new one, with its
    /// leader on board, is in the table.
    func board(
        _ key: FlightKey, as passenger: TaskContext, orAdd new: Flight
    ) -> (flight: Flight, seat: Int)? {
        while true {
            let found = flights.withLock { flights -> Flight? in
                if let flight = flights[key] { return flight }
                flights[key] = new
                return nil
            }
            guard let found else { return nil }
            if let seat = found.board(passenger) { return (found, seat) }
            // It is over and about to leave the table; make room.
            remove(key, found)
        }
    }

    /// Puts a flight into the table unless there is one that is not over.
    func add(_ key: FlightKey, _ new: Flight) -> Bool {
        flights.withLock { flights in
            if let flight = flights[key], !flight.isOver { return false }
            flights[key] = new
            return true
        }
    }

    func flight(of key: FlightKey) -> Flight? { flights.withLock { $0[key] } }

    func replace(_ key: FlightKey, with new: Flight) -> Flight? {
        flights.withLock { flights in
            let old = flights[key]
            flights[key] = new
            return old
        }
    }

    /// Takes a flight out, unless another has taken its place.
    func remove(_ key: FlightKey, _ flight: Flight) {
        flights.withLock { flights in
            if flights[key] === flight { flights[key] = nil }
        }
    }

    package var count: Int { flights.withLock { $0.count } }
}
