/// How many requests to an origin are given to libcurl at once, where one connection may carry many.
///
/// libcurl 7.88 has two faults here. Told to wait for a connection that is being set up, it wakes those who wait one by
/// one, and not at all while a server without HTTP/2 is slow to answer. And when a connection is full, it opens one more
/// for *each* further request. So the waiting is done here: one request goes ahead, and what its connection turns out
/// to be says how many follow. Where requests share it, a hundred do, and then again one goes ahead: if it finds room
/// on a connection that is there, there is room for one more; if it has opened another, for a hundred more.
package struct StreamGate<Waiting> {
    /// Where connections can be shared.
    package struct Origin: Sendable, Hashable {
        package let host: String
        package let port: Int

        package init(host: String, port: Int) {
            self.host = host
            self.port = port
        }
    }

    /// A place at an origin.
    package struct Place: Sendable, Hashable {
        package let origin: Origin
        /// Whether it is the one that goes ahead.
        package var isAhead: Bool
        /// What was known of the origin when it was given.
        fileprivate var age = 0
    }

    fileprivate struct State {
        var active = 0
        /// How many may be under way; 0 while nothing is known of the origin.
        var room = 0
        var isOneAhead = false
        /// How often a connection was lost.
        var age = 0
        var waiting: [Waiting] = []
        var served = 0
    }

    /// What servers usually take on one connection.
    package static var streams: Int { 100 }

    private var states: [Origin: State] = [:]

    package init() {}

    /// A place for a request, or `nil`: then it waits until it comes out of one of the other calls.
    package mutating func enter(_ origin: Origin, _ waiting: @autoclosure () -> Waiting) -> Place? {
        change(origin) { state in
            state.enter(at: origin, waiting())
        }
    }

    /// A request has lost its connection and wants another: the first of those who have lost it goes ahead, and the
    /// others follow, as at the beginning.
    package mutating func reenter(_ place: Place, _ waiting: @autoclosure () -> Waiting) -> Place? {
        change(place.origin) { state in
            // Who comes late finds what the others have found out meanwhile.
            if place.age == state.age {
                state.age += 1
                state.room = 0
            }
            if place.isAhead {
                // Others may wait for it: it stays ahead.
                return Place(origin: place.origin, isAhead: true, age: state.age)
            }
            state.active -= 1
            return state.enter(at: place.origin, waiting())
        }
    }

    /// The request that went ahead has a connection; returns who may follow.
    ///
    /// - Parameters:
    ///   - isNew: It was opened for this request.
    ///   - isShared: Others may use it at the same time; otherwise nobody need wait for anybody.
    package mutating func connected(
        _ place: Place, isNew: Bool, isShared: Bool
    ) -> [(waiting: Waiting, place: Place)] {
        guard place.isAhead else { return [] }
        return change(place.origin) { state in
            state.isOneAhead = false
            if !isShared {
                state.room = .max
            } else if state.room < .max - Self.streams {
                state.room += isNew || state.room == 0 ? Self.streams : 1
            }
            return state.follow(at: place.origin)
        }
    }

    /// A request has ended; returns who may follow.
    ///
    /// - Parameter isStillAhead: It has found no connection.
    package mutating func leave(
        _ place: Place, isStillAhead: Bool
    ) -> [(waiting: Waiting, place: Place)] {
        let released = change(place.origin) { state in
            state.active -= 1
            if isStillAhead { state.isOneAhead = false }
            return state.follow(at: place.origin)
        }
        // A quiet origin is forgotten: by the next time its connections may be gone.
        if states[place.origin]?.active == 0 { states[place.origin] = nil }
        return released
    }

    /// In place: what waits may be many.
    private mutating func change<Result>(
        _ origin: Origin, _ body: (inout State) -> Result
    ) -> Result {
        body(&states[origin, default: State()])
    }
}

extension StreamGate.State {
    fileprivate mutating func enter(
        at origin: StreamGate.Origin, _ newcomer: @autoclosure () -> Waiting
    ) -> StreamGate.Place? {
        if served == waiting.count, let isAhead = admit() {
            return StreamGate.Place(origin: origin, isAhead: isAhead, age: age)
        }
        waiting.append(newcomer())
        return nil
    }

    /// Takes a place, if there is one; returns whether it is the one that goes ahead.
    fileprivate mutating func admit() -> Bool? {
        let isAhead = active >= room
        if isAhead {
            guard !isOneAhead else { return nil }
            isOneAhead = true
        }
        active += 1
        return isAhead
    }

    /// Gives places to those who wait, as far as there are any.
    fileprivate mutating func follow(
        at origin: StreamGate.Origin
    ) -> [(waiting: Waiting, place: StreamGate.Place)] {
        guard served < waiting.count else { return [] }
        var released: [(waiting: Waiting, place: StreamGate.Place)] = []
        while served < waiting.count, let isAhead = admit() {
            let place = StreamGate.Place(origin: origin, isAhead: isAhead, age: age)
            released.append((waiting[served], place))
            served += 1
        }
        if served == waiting.count {
            waiting.removeAll()
            served = 0
        } else if served >= StreamGate.streams, served * 2 >= waiting.count {
            // Who has been served is not held any longer; seldom enough that moving the others costs nothing.
            waiting.removeFirst(served)
            served = 0
        }
        return released
    }
}
