/// Limits how many requests to an origin libcurl gets at once, if one connection may carry many
/// requests.
///
/// libcurl 7.88 has two faults here. If requests wait for a connection that is being opened
/// (`CURLOPT_PIPEWAIT`), it wakes them one at a time, and not at all while a server without HTTP/2
/// delays its response. When a connection is full, libcurl opens another one for *each* further
/// request.
///
/// So requests wait here instead. One request, the probe, goes first. The properties of its
/// connection decide how many requests follow. If the connection can be shared, a hundred follow,
/// and then the next probe goes: if it finds room on an existing connection, there is room for one
/// more request; if it opens a new connection, for a hundred more.
package struct HTTP2Admission<Waiting> {
    /// The host and port that determine whether requests can share a connection.
    package struct Origin: Sendable, Hashable {
        package let host: String
        package let port: Int

        package init(host: String, port: Int) {
            self.host = host
            self.port = port
        }
    }

    /// The permission to run one request at an origin.
    package struct Slot: Sendable, Hashable {
        /// Whether this request is the origin's probe.
        package var isProbe: Bool
        /// The origin's generation when the slot was granted.
        fileprivate var generation = 0
        /// The index of the origin's state.
        fileprivate let place: Int
    }

    fileprivate struct State {
        /// `nil` in a free place.
        var origin: Origin?
        var active = 0
        /// The number of requests that may be active; 0 while nothing is known about the origin.
        var room = 0
        var hasProbe = false
        /// Increases when a request of the current generation has lost its connection.
        var generation = 0
        var waiting: [Waiting] = []
        var served = 0
    }

    /// The usual number of concurrent streams on one connection.
    package static var streamsPerConnection: Int { 100 }

    /// The states of the origins that have requests, and those of free places.
    private var states: [State] = []
    private var places: [Origin: Int] = [:]
    private var freePlaces: [Int] = []
    /// The origin of the last request and its place: hashing the host costs more than comparing it.
    private var latest: (origin: Origin, place: Int)?

    package init() {}

    /// Returns a slot for a request; `nil` if the request has to wait until another call returns
    /// its slot.
    package mutating func enter(_ origin: Origin, _ waiting: @autoclosure () -> Waiting) -> Slot? {
        let place = place(of: origin)
        return states[place].enter(at: place, waiting())
    }

    /// Returns a slot for a request that lost its connection; `nil` if it has to wait.
    ///
    /// The first request that lost a connection becomes the probe for a new one. The others follow.
    package mutating func reenter(_ slot: Slot, _ waiting: @autoclosure () -> Waiting) -> Slot? {
        change(slot) { state in
            // A request of an older generation uses the state that others have updated since.
            if slot.generation == state.generation {
                state.generation += 1
                state.room = 0
            }
            if slot.isProbe {
                // Other requests may wait for the probe, so it stays the probe.
                return Slot(isProbe: true, generation: state.generation, place: slot.place)
            }
            state.active -= 1
            return state.enter(at: slot.place, waiting())
        }
    }

    /// Records that the probe has a connection; returns the requests that may follow.
    ///
    /// - Parameters:
    ///   - isNew: Whether the connection was opened for this request.
    ///   - isShared: Whether other requests can use the connection at the same time. If not, no
    ///     request has to wait.
    package mutating func connected(
        _ slot: Slot, isNew: Bool, isShared: Bool
    ) -> [(waiting: Waiting, slot: Slot)] {
        guard slot.isProbe else { return [] }
        return change(slot) { state in
            state.hasProbe = false
            if !isShared {
                state.room = .max
            } else if state.room < .max - Self.streamsPerConnection {
                state.room += isNew || state.room == 0 ? Self.streamsPerConnection : 1
            }
            return state.releaseWaiting(at: slot.place)
        }
    }

    /// Records that a request has ended; returns the requests that may follow.
    ///
    /// - Parameter isStillProbe: Whether the request was the probe and found no connection.
    package mutating func leave(
        _ slot: Slot, isStillProbe: Bool
    ) -> [(waiting: Waiting, slot: Slot)] {
        let released = change(slot) { state in
            state.active -= 1
            if isStillProbe { state.hasProbe = false }
            return state.releaseWaiting(at: slot.place)
        }
        // The state of an origin without active requests is removed: its connections may be gone by
        // the next request.
        if states[slot.place].active == 0 { removeState(at: slot.place) }
        return released
    }

    /// Changes the state in place, without a copy of the waiting requests.
    private mutating func change<Result>(_ slot: Slot, _ body: (inout State) -> Result) -> Result {
        body(&states[slot.place])
    }

    /// The index of an origin's state, which is created if the origin has none.
    private mutating func place(of origin: Origin) -> Int {
        if let latest, latest.origin == origin { return latest.place }
        let place = places[origin] ?? addState(of: origin)
        latest = (origin, place)
        return place
    }

    private mutating func addState(of origin: Origin) -> Int {
        let place = freePlaces.popLast() ?? states.count
        if place == states.count { states.append(State()) }
        states[place].origin = origin
        places[origin] = place
        return place
    }

    private mutating func removeState(at place: Int) {
        if let origin = states[place].origin { places[origin] = nil }
        states[place] = State()
        freePlaces.append(place)
        if latest?.place == place { latest = nil }
    }
}

extension HTTP2Admission.State {
    fileprivate mutating func enter(
        at place: Int, _ waiter: @autoclosure () -> Waiting
    ) -> HTTP2Admission.Slot? {
        if served == waiting.count, let isProbe = admit() {
            return HTTP2Admission.Slot(isProbe: isProbe, generation: generation, place: place)
        }
        waiting.append(waiter())
        return nil
    }

    /// Takes a slot if one is free; returns whether it belongs to the probe.
    fileprivate mutating func admit() -> Bool? {
        let isProbe = active >= room
        if isProbe {
            guard !hasProbe else { return nil }
            hasProbe = true
        }
        active += 1
        return isProbe
    }

    /// Grants free slots to waiting requests.
    fileprivate mutating func releaseWaiting(
        at place: Int
    ) -> [(waiting: Waiting, slot: HTTP2Admission.Slot)] {
        guard served < waiting.count else { return [] }
        var released: [(waiting: Waiting, slot: HTTP2Admission.Slot)] = []
        while served < waiting.count, let isProbe = admit() {
            let slot = HTTP2Admission.Slot(
                isProbe: isProbe, generation: generation, place: place)
            released.append((waiting[served], slot))
            served += 1
        }
        if served == waiting.count {
            waiting.removeAll()
            served = 0
        } else if served >= HTTP2Admission.streamsPerConnection, served * 2 >= waiting.count {
            // Removes the released requests, rarely enough that moving the others costs little.
            waiting.removeFirst(served)
            served = 0
        }
        return released
    }
}

/// The admission of a transfer at an origin with shared connections.
struct AdmissionState<Waiting> {
    /// The permission to use the origin's connections; `nil` if it is not needed or not granted.
    var slot: HTTP2Admission<Waiting>.Slot?
    /// The number of the current wait.
    private var ticket: UInt64?

    /// Whether the transfer is the origin's probe.
    var isProbe: Bool { slot?.isProbe == true }

    /// Records that the transfer waits for admission.
    mutating func wait(_ ticket: UInt64) { self.ticket = ticket }

    /// Whether the transfer still waits for the admission with this number.
    func isAwaiting(_ ticket: UInt64) -> Bool { self.ticket == ticket }

    /// Records that the transfer begins; returns whether it has waited.
    mutating func begin() -> Bool {
        defer { ticket = nil }
        return ticket != nil
    }

    /// Records that the transfer has ended; the loop takes the slot back.
    mutating func stopWaiting() { ticket = nil }
}

#if os(Linux)
    import ErrandTransport

    // Requests that wait for a connection that can be shared; see ``HTTP2Admission``.
    extension EventLoop {
        typealias AdmissionSlot = HTTP2Admission<AdmissionTicket>.Slot

        /// A waiting easy handle and the number of its wait.
        ///
        /// An easy handle is reused, so the number shows whether it still waits for the same
        /// admission.
        struct AdmissionTicket {
            let easyHandle: EasyHandle
            let number: UInt64
        }

        /// Requests admission for a transfer; returns false if it has to wait.
        func requestAdmission(_ easyHandle: EasyHandle, _ request: TransportRequest) -> Bool {
            guard EasyHandle.needsAdmission(request), let host = request.host else {
                return true
            }
            let origin = HTTP2Admission<AdmissionTicket>.Origin(
                host: host, port: request.url.effectivePort)
            let ticket = AdmissionTicket(easyHandle: easyHandle, number: lastTicket + 1)
            return assignSlot(admission.enter(origin, ticket), for: ticket)
        }

        /// Requests admission again for a transfer that lost its connection.
        func requestReadmission(_ easyHandle: EasyHandle) -> Bool {
            guard let lost = easyHandle.admission.slot else { return true }
            easyHandle.admission.slot = nil
            let ticket = AdmissionTicket(easyHandle: easyHandle, number: lastTicket + 1)
            return assignSlot(admission.reenter(lost, ticket), for: ticket)
        }

        private func assignSlot(_ slot: AdmissionSlot?, for ticket: AdmissionTicket) -> Bool {
            if let slot {
                ticket.easyHandle.admission.slot = slot
                return true
            }
            lastTicket = ticket.number
            ticket.easyHandle.awaitAdmission(ticket: ticket.number)
            return false
        }

        /// Reports the connection of a probe to the admission control.
        func connectionFound(_ easyHandle: EasyHandle, isNew: Bool, isShared: Bool) {
            guard let slot = easyHandle.admission.slot, slot.isProbe else { return }
            easyHandle.admission.slot?.isProbe = false
            admitted += admission.connected(slot, isNew: isNew, isShared: isShared)
        }

        /// Returns the slot of a transfer that has ended.
        func releaseSlot(_ easyHandle: EasyHandle) {
            guard let slot = easyHandle.admission.slot else { return }
            easyHandle.admission.slot = nil
            admitted += admission.leave(slot, isStillProbe: slot.isProbe)
        }

        /// Starts the admitted transfers.
        ///
        /// Must not be called from inside a callback of libcurl.
        func startAdmitted() {
            while !admitted.isEmpty {
                let batch = admitted
                admitted.removeAll(keepingCapacity: true)
                for (ticket, slot) in batch {
                    guard ticket.easyHandle.admission.isAwaiting(ticket.number) else {
                        admitted += admission.leave(slot, isStillProbe: slot.isProbe)
                        continue
                    }
                    ticket.easyHandle.admission.slot = slot
                    ticket.easyHandle.begin()
                }
            }
        }
    }
#endif
