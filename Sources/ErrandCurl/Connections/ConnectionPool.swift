import ErrandTransport

/// The connections of a loop and the requests that wait for one, as a pure value.
///
/// Idle connections are used last in, first out, so that those beyond the current need expire. A
/// free connection goes to the request that has waited longest, also if another connection was
/// opened for that request. The owner opens and closes connections as ``nextStart()`` demands.
///
/// The first use of a type as a dictionary's key, or where a conformance is required, makes the
/// runtime search all conformances of the process, which takes a third of a millisecond for the four
/// that a first request would need. Therefore few hosts do without dictionaries.
struct ConnectionPool<Connection, Waiter> {
    struct Limits {
        /// The maximum number of connections, open or in progress.
        var total = Int.max
        /// The maximum number of connections to one host and port.
        var perHost = Int.max
        /// The maximum number of idle connections.
        var idle = 128
        /// The maximum number of connections in progress with one key.
        var connecting = 64
        /// The maximum number of connects that start between two calls of ``continueStarts()``.
        var startsAtOnce = 8
        /// The number of later requests that the connections to a full host serve before one of them makes room for
        /// an earlier request with another key.
        var patience = 16
        /// The time after which an idle connection is closed, in nanoseconds.
        var idleNanoseconds: UInt64 = 118_000_000_000
    }

    /// The number of a waiting request; a request that came earlier has a lower one.
    typealias Ticket = UInt64

    enum Start {
        /// Open a connection, for this waiting request or an earlier one.
        case connect(ConnectionKey, for: Waiter, Ticket)
        /// Close this idle connection, whose place another one takes.
        case close(Connection)
    }

    private let limits: Limits
    /// The lines, of which some are free; as long as there are few, each keeps its key.
    private var lines: [Line] = []
    /// The lines by key, if there are more than ``comparedLines``.
    private var indices: [ConnectionKey: Int] = [:]
    /// The free lines; the one that was used last is last.
    private var free: [Int] = []
    /// The line that was used last: comparing its key is cheaper than hashing.
    private var recent: Int?
    /// The key that ``key(of:_:requiresValidChain:)`` returned last, and the options of this request.
    private var latestKey: ConnectionKey?
    private var latestOptions = TransportOptions()
    /// The number of connections to each host, open or in progress, if it is limited.
    private var hostCounts: [ConnectionKey.Host: Int] = [:]
    private var lastTicket: Ticket = 0
    /// The lines with waiters for whom no connection is in progress.
    private var wanting: [Int] = []
    /// The number of connections, open or in progress.
    private(set) var count = 0
    private(set) var connecting = 0
    private(set) var idle = 0
    /// The number of connects that may still start before the next ``continueStarts()``.
    private var startsLeft: Int

    init(limits: Limits = Limits()) { (self.limits, startsLeft) = (limits, limits.startsAtOnce) }

    // MARK: - Lines

    /// The number of lines up to which the keys are compared one by one.
    private static var comparedLines: Int { 8 }

    private mutating func line(of key: ConnectionKey) -> Int? {
        if let recent, isKey(key, of: recent) { return recent }
        let index =
            if lines.count > Self.comparedLines {
                indices[key]
            } else {
                lines.firstIndex { !$0.isFree && $0.key == key }
            }
        guard let index else { return nil }
        recent = index
        return index
    }

    // A function of its own, which does not copy the line, because it changes nothing.
    @inline(never)
    private func isKey(_ key: ConnectionKey, of line: Int) -> Bool {
        lines.withUnsafeBufferPointer { line < $0.count && $0[line].key == key }
    }

    /// The key of a request without pins; that of earlier requests, if it is equal, so that references are compared.
    ///
    /// - Parameter options: The options of the request with its proxy.
    mutating func key(
        of request: TransportRequest, _ options: TransportOptions, requiresValidChain: Bool
    ) -> ConnectionKey {
        if let latestKey, latestOptions.hasSameStorage(as: options),
            latestKey.isKey(of: request.url, requiresValidChain: requiresValidChain)
        {
            return latestKey
        }
        let key = known(
            ConnectionKey(request, options: options, requiresValidChain: requiresValidChain))
        (latestKey, latestOptions) = (key, options)
        return key
    }

    /// The equal key of the line, unless it has pins, with which connections are opened in another way.
    mutating func known(_ key: ConnectionKey) -> ConnectionKey {
        guard let line = line(of: key), !lines[line].key.isPinned else { return key }
        return lines[line].key
    }

    private mutating func makeLine(of key: ConnectionKey) -> Int {
        if let index = line(of: key) { return index }
        let index: Int
        // Only the last ones: comparing many keys would cost more than a connect saves.
        if let known = free.suffix(Self.comparedLines).lastIndex(where: { lines[$0].key == key }) {
            index = free.remove(at: known)
            var line = Line(key: key)
            // The last connections have shown that each waiter needs one; other servers show it again.
            if lines[index].mode == .exclusive { line.mode = .exclusive }
            lines[index] = line
        } else if lines.count >= Self.comparedLines, !free.isEmpty {
            index = free.removeFirst()
            lines[index] = Line(key: key)
        } else {
            index = lines.count
            lines.append(Line(key: key))
            if index == Self.comparedLines {
                // No line is free; the earlier ones are added too.
                for earlier in lines.indices { indices[lines[earlier].key] = earlier }
            }
        }
        if lines.count > Self.comparedLines { indices[key] = index }
        return index
    }

    // MARK: - Requests

    /// Returns the idle connection that was used last, or a shared one that accepts another request;
    /// `nil` if there is none.
    mutating func reuse(
        _ key: ConnectionKey, where hasPlace: (Connection) -> Bool = { _ in true }
    ) -> Connection? {
        if let line = line(of: key) {
            if let reused = lines[line].idle.popLast() {
                idle -= 1
                return reused.connection
            }
            if let shared = reuseShared(line, where: hasPlace) { return shared }
        }
        guard let (other, isShared) = key.related, let line = line(of: other) else { return nil }
        if isShared { return reuseShared(line, where: hasPlace) }
        guard let reused = lines[line].idle.popLast() else { return nil }
        idle -= 1
        return reused.connection
    }

    private mutating func reuseShared(
        _ line: Int, where hasPlace: (Connection) -> Bool
    ) -> Connection? {
        // A place that was freed in this turn belongs to the request that has waited longest. The first connections are
        // preferred, so that those beyond the current need expire.
        guard lines[line].waiting == 0,
            let index = lines[line].shared.firstIndex(where: { hasPlace($0.connection) }),
            !makesRoom(line, for: lastTicket + 1, isIdle: lines[line].shared[index].idle != nil)
        else { return nil }
        if lines[line].shared[index].idle != nil {
            lines[line].shared[index].idle = nil
            idle -= 1
        }
        return lines[line].shared[index].connection
    }

    /// Lets a request wait for a connection.
    mutating func wait(_ key: ConnectionKey, for waiter: Waiter) -> Ticket {
        lastTicket += 1
        let line = makeLine(of: key)
        lines[line].waiters.append((lastTicket, waiter))
        noteDemand(of: line)
        return lastTicket
    }

    /// Whether any request waits for a connection.
    var hasWaiters: Bool { lines.contains { $0.waiting > 0 } }

    /// Whether a request waits for a connection.
    mutating func hasWaiter(_ key: ConnectionKey) -> Bool {
        // A look at few lines costs less than a comparison of keys.
        if lines.count <= Self.comparedLines, !hasWaiters { return false }
        return line(of: key).map { lines[$0].waiting > 0 } ?? false
    }

    /// Removes a waiting request; `nil` if it waits no more.
    ///
    /// A connection in progress serves the next request, unless the owner abandons it.
    mutating func cancel(_ ticket: Ticket, _ key: ConnectionKey) -> Waiter? {
        guard let line = line(of: key), let waiter = lines[line].removeWaiter(ticket) else {
            return nil
        }
        noteDemand(of: line)
        return waiter
    }

    /// Records that a connect in progress is abandoned; returns false if each has a request that
    /// waits for it.
    mutating func abandonSurplusConnect(_ key: ConnectionKey) -> Bool {
        guard let line = line(of: key), lines[line].connecting > lines[line].wanted else {
            return false
        }
        connecting -= 1
        lines[line].connecting -= 1
        removeConnection(of: line)
        return true
    }

    /// Whether connects wait for ``continueStarts()``.
    var hasDeferredStarts: Bool { startsLeft == 0 && !wanting.isEmpty }

    /// Allows further connects; called once in each turn of the loop.
    ///
    /// A turn starts at most two groups: the rest of the earlier one before the call, and one after.
    ///
    /// libcurl's handle takes 10 KB during a connect. Fast connects end within a turn, so that few
    /// are in progress at once; slow ones reach the limit after a few turns.
    mutating func continueStarts() { startsLeft = limits.startsAtOnce }

    /// The next connection to open or to close, so that requests need not wait; call until `nil`.
    mutating func nextStart() -> Start? {
        guard !wanting.isEmpty, startsLeft > 0 else { return nil }
        // The request that has waited longest comes first.
        let candidates = wanting.map { ($0, lines[$0].waiters[lines[$0].served].ticket) }
        for (line, _) in candidates.sorted(by: { $0.1 < $1.1 }) {
            let key = lines[line].key
            guard lines[line].connecting < limits.connecting else { continue }
            if limitsHosts, hostCounts[key.host, default: 0] >= limits.perHost {
                guard let idle = takeOldestIdle(where: { $0.host == key.host }) else { continue }
                return .close(idle)
            }
            if count >= limits.total {
                guard let idle = takeOldestIdle(where: { _ in true }) else { return nil }
                return .close(idle)
            }
            // Earlier requests have a connection in progress each.
            let (ticket, waiter) = lines[line].waiters[lines[line].wantedIndex]
            guard let waiter else { return nil }
            startsLeft -= 1
            lines[line].passed = 0
            lines[line].lastAtStart = lastTicket
            lines[line].connecting += 1
            connecting += 1
            addConnection(to: key.host)
            noteDemand(of: line)
            return .connect(key, for: waiter, ticket)
        }
        return nil
    }

    // MARK: - Connections

    /// Adds a connection that was opened; returns the request that uses it, or keeps it idle.
    mutating func connected(
        _ connection: Connection, _ key: ConnectionKey, at now: MonotonicTime
    ) -> Waiter? {
        connecting -= 1
        let line = makeLine(of: key)
        lines[line].connecting -= 1
        lines[line].open += 1
        lines[line].mode = .exclusive
        return makeAvailable(connection, line, at: now)
    }

    /// Adds a shared connection that was opened, as an idle one; ``nextWaiter(_:where:)`` returns the requests that
    /// use it.
    mutating func connectedShared(
        _ connection: Connection, _ key: ConnectionKey, at now: MonotonicTime
    ) {
        connecting -= 1
        let line = makeLine(of: key)
        lines[line].connecting -= 1
        lines[line].open += 1
        lines[line].mode = .shared
        lines[line].hasFailed = false
        lines[line].shared.append((connection, (now, expiry(of: now))))
        idle += 1
        noteDemand(of: line)
    }

    /// Returns the next request for a shared connection that accepts one; `nil` if no request waits.
    mutating func nextWaiter(
        _ key: ConnectionKey, where isConnection: (Connection) -> Bool
    ) -> Waiter? {
        guard let line = line(of: key), lines[line].waiting > 0,
            let index = lines[line].shared.firstIndex(where: { isConnection($0.connection) }),
            !makesRoom(
                line, for: lines[line].waiters[lines[line].served].ticket,
                isIdle: lines[line].shared[index].idle != nil),
            let waiter = lines[line].nextWaiter()
        else { return nil }
        if lines[line].shared[index].idle != nil {
            lines[line].shared[index].idle = nil
            idle -= 1
        }
        lines[line].hasFailed = false
        noteDemand(of: line)
        return waiter
    }

    /// The number of requests that a new shared connection is expected to carry.
    mutating func requestsPerConnection(_ key: ConnectionKey) -> Int {
        lines[makeLine(of: key)].requestsPerConnection
    }

    /// Records the limit that the server has named for the requests on one shared connection.
    mutating func noteLimit(_ limit: Int, _ key: ConnectionKey) {
        guard let line = line(of: key) else { return }
        lines[line].limit = limit
        noteDemand(of: line)
    }

    /// Removes all waiting requests with a key, whose connections cannot carry them.
    mutating func removeWaiters(_ key: ConnectionKey) -> [Waiter] {
        guard let line = line(of: key) else { return [] }
        var waiters: [Waiter] = []
        while let waiter = lines[line].nextWaiter() { waiters.append(waiter) }
        noteDemand(of: line)
        return waiters
    }

    /// Records that a shared connection carries no request now.
    mutating func becameIdle(
        _ key: ConnectionKey, at now: MonotonicTime, where isConnection: (Connection) -> Bool
    ) {
        guard let line = line(of: key),
            let index = lines[line].shared.firstIndex(where: { isConnection($0.connection) }),
            lines[line].shared[index].idle == nil
        else { return }
        lines[line].shared[index].idle = (now, expiry(of: now))
        idle += 1
    }

    /// Removes a shared connection that accepts no further requests, so that another one to its host may be opened; it
    /// counts as open until ``closedShared(_:where:)``.
    mutating func removeShared(
        _ key: ConnectionKey, where isConnection: (Connection) -> Bool
    ) {
        guard let line = line(of: key),
            let index = lines[line].shared.firstIndex(where: { isConnection($0.connection) })
        else { return }
        if lines[line].shared.remove(at: index).idle != nil { idle -= 1 }
        removeFromHost(of: line)
        noteDemand(of: line)
    }

    /// Records that a connection was opened and is closed, because no request can use it.
    mutating func connectClosed(_ key: ConnectionKey) {
        connecting -= 1
        let line = makeLine(of: key)
        lines[line].connecting -= 1
        removeConnection(of: line)
    }

    /// Records that a connection could not be opened; returns the requests that fail.
    ///
    /// These are all that waited for it: the first one if each needs a connection of its own. None fails that has
    /// another connection in progress, or that an open shared connection will accept.
    mutating func connectFailed(_ key: ConnectionKey) -> [Waiter] {
        connecting -= 1
        let line = makeLine(of: key)
        lines[line].connecting -= 1
        let waiters = lines[line].failWaiters()
        removeConnection(of: line)
        return waiters
    }

    /// Records that a connect has ended at its time limit; returns the request that fails: the one
    /// for which it was started, unless every waiting request has another connection in progress.
    ///
    /// The limit is that of this request. Every other one has a limit of its own, which may be
    /// longer, so it waits for another connect of ``nextStart()``.
    mutating func connectTimedOut(_ ticket: Ticket, _ key: ConnectionKey) -> Waiter? {
        connecting -= 1
        let line = makeLine(of: key)
        lines[line].connecting -= 1
        if lines[line].isServed { lines[line].hasFailed = true }
        let isMissed = !lines[line].isServed && lines[line].waiting > lines[line].expected
        let waiter = isMissed ? lines[line].removeWaiter(ticket) : nil
        removeConnection(of: line)
        return waiter
    }

    /// Returns a connection after an exchange; returns the next request that uses it, or keeps it
    /// idle.
    ///
    /// - Parameter lifetime: The time for which the server keeps an idle connection, in
    ///   nanoseconds; `nil` if it is unknown.
    mutating func release(
        _ connection: Connection, _ key: ConnectionKey, at now: MonotonicTime,
        lifetime: UInt64? = nil
    ) -> Waiter? {
        makeAvailable(connection, makeLine(of: key), at: now, lifetime: lifetime)
    }

    /// Removes a connection that was in use and is closed.
    mutating func closed(_ key: ConnectionKey) {
        let line = makeLine(of: key)
        lines[line].open -= 1
        removeConnection(of: line)
    }

    /// Removes a shared connection that is closed.
    mutating func closedShared(
        _ key: ConnectionKey, where isConnection: (Connection) -> Bool
    ) {
        removeShared(key, where: isConnection)
        let line = makeLine(of: key)
        lines[line].open -= 1
        count -= 1
        noteDemand(of: line)
    }

    /// Removes a shared connection that is closed and has carried no request, as if it could not be opened; returns the
    /// requests that fail.
    mutating func closedUnused(
        _ key: ConnectionKey, where isConnection: (Connection) -> Bool
    ) -> [Waiter] {
        removeShared(key, where: isConnection)
        let waiters = lines[makeLine(of: key)].failWaiters()
        closedShared(key, where: isConnection)
        return waiters
    }

    /// Removes the idle connection that is closed; returns false if it is not idle.
    mutating func closedIdle(
        _ key: ConnectionKey, where isClosed: (Connection) -> Bool
    ) -> Bool {
        guard let line = line(of: key),
            let index = lines[line].idle.firstIndex(where: { isClosed($0.connection) })
        else { return false }
        removeIdle(at: index, of: line)
        return true
    }

    // MARK: - Idle connections

    /// Removes an idle connection beyond the limit of idle connections, or one that has expired, to
    /// be closed; call until `nil`.
    mutating func nextExpired(at now: MonotonicTime) -> Connection? {
        if hasTooManyIdle { return nextIdle() }
        guard idle > 0 else { return nil }
        for line in lines.indices {
            if let index = lines[line].idle.firstIndex(where: { $0.expiry <= now }) {
                return removeIdle(at: index, of: line)
            }
            let index = lines[line].shared.firstIndex { shared in
                shared.idle.map { $0.expiry <= now } ?? false
            }
            if let index { return removeIdleShared(at: index, of: line) }
        }
        return nil
    }

    /// Whether idle connections beyond the limit of idle connections must be closed.
    @inline(__always)  // Otherwise the owner copies the pool.
    var hasTooManyIdle: Bool { idle > limits.idle }

    /// The time at which a connection expires that becomes idle now, and that the server keeps for
    /// this number of nanoseconds; `nil` if that is unknown.
    @inline(__always)
    func expiry(of now: MonotonicTime, lifetime: UInt64? = nil) -> MonotonicTime {
        now.advanced(nanoseconds: min(limits.idleNanoseconds, lifetime ?? .max))
    }

    /// The time at which the next idle connection expires.
    var nextExpiry: MonotonicTime {
        var next = MonotonicTime.never
        for line in lines {
            for idle in line.idle { next = min(next, idle.expiry) }
            for shared in line.shared {
                if let idle = shared.idle { next = min(next, idle.expiry) }
            }
        }
        return next
    }

    /// Removes an idle connection to be closed; call until `nil`.
    mutating func nextIdle() -> Connection? { takeOldestIdle { _ in true } }

    /// Removes an idle connection that carries one request at a time, with a key of this kind, to be closed; call until
    /// `nil`.
    mutating func nextIdleExclusive(where isWanted: (ConnectionKey) -> Bool) -> Connection? {
        for line in lines.indices where !lines[line].idle.isEmpty && isWanted(lines[line].key) {
            return removeIdle(at: 0, of: line)
        }
        return nil
    }

    private mutating func takeOldestIdle(
        where isCandidate: (ConnectionKey) -> Bool
    ) -> Connection? {
        var oldest: (line: Int, index: Int?, since: MonotonicTime)?
        for line in lines.indices where isCandidate(lines[line].key) {
            if let first = lines[line].idle.first, first.since < oldest?.since ?? .never {
                oldest = (line, nil, first.since)
            }
            for (index, shared) in lines[line].shared.enumerated() {
                guard let idle = shared.idle, idle.since < oldest?.since ?? .never else { continue }
                oldest = (line, index, idle.since)
            }
        }
        guard let oldest else { return nil }
        if let index = oldest.index { return removeIdleShared(at: index, of: oldest.line) }
        return removeIdle(at: 0, of: oldest.line)
    }

    @discardableResult
    private mutating func removeIdle(at index: Int, of line: Int) -> Connection {
        let connection = lines[line].idle.remove(at: index).connection
        removeIdle(of: line)
        return connection
    }

    private mutating func removeIdleShared(at index: Int, of line: Int) -> Connection {
        let connection = lines[line].shared.remove(at: index).connection
        removeIdle(of: line)
        return connection
    }

    private mutating func removeIdle(of line: Int) {
        lines[line].open -= 1
        idle -= 1
        removeConnection(of: line)
    }

    // MARK: - Counts

    private mutating func makeAvailable(
        _ connection: Connection, _ line: Int, at now: MonotonicTime, lifetime: UInt64? = nil
    ) -> Waiter? {
        if lines[line].waiting > 0,
            !makesRoom(line, for: lines[line].waiters[lines[line].served].ticket),
            let waiter = lines[line].nextWaiter()
        {
            noteDemand(of: line)
            return waiter
        }
        lines[line].idle.append((connection, now, expiry(of: now, lifetime: lifetime)))
        idle += 1
        noteDemand(of: line)
        return nil
    }

    /// Whether a connection of a line is not used for a request, so that ``nextStart()`` can close it when it is idle:
    /// an earlier request with another key, which would wait as long as the line has requests, needs the place.
    ///
    /// - Parameters:
    ///   - ticket: That of the request that would use the connection.
    ///   - isIdle: Whether the connection carries no request; ``nextStart()`` closes it in any case, if a place is
    ///     needed.
    private mutating func makesRoom(
        _ line: Int, for ticket: Ticket, isIdle: Bool = false
    ) -> Bool {
        guard startsLeft >= 1, !isIdle,
            wanting.count > 1 || wanting.first.map({ $0 != line }) == true
        else { return false }
        let host = lines[line].key.host
        let isHostFull = limitsHosts && hostCounts[host, default: 0] >= limits.perHost
        guard isHostFull || count >= limits.total else { return false }
        var isEarlier = false
        for index in wanting where index != line && (!isHostFull || lines[index].key.host == host) {
            guard lines[index].connecting < limits.connecting, lines[index].wantedBy < ticket
            else { continue }
            if lines[index].passed >= limits.patience { isEarlier = true }
            lines[index].passed += 1
        }
        return isEarlier
    }

    private var limitsHosts: Bool { limits.perHost < .max }

    private mutating func addConnection(to host: ConnectionKey.Host) {
        count += 1
        if limitsHosts { hostCounts[host, default: 0] += 1 }
    }

    private mutating func removeConnection(of line: Int) {
        count -= 1
        removeFromHost(of: line)
        noteDemand(of: line)
    }

    private mutating func removeFromHost(of line: Int) {
        guard limitsHosts else { return }
        let host = lines[line].key.host
        let left = hostCounts[host, default: 1] - 1
        hostCounts[host] = left > 0 ? left : nil
    }

    /// Records whether a request waits for which no connection is in progress, and makes the line
    /// of an unused key available.
    private mutating func noteDemand(of line: Int) {
        let isWanting = lines[line].wanted > lines[line].connecting
        if isWanting != lines[line].isWanting {
            lines[line].isWanting = isWanting
            if isWanting { wanting.append(line) } else { wanting.removeAll { $0 == line } }
        }
        guard lines[line].isUnused, !lines[line].isFree else { return }
        if lines.count > Self.comparedLines { indices[lines[line].key] = nil }
        lines[line].isFree = true
        if recent == line { recent = nil }
        free.append(line)
    }
}
