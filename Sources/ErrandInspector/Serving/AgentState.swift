import ErrandCore
import ErrandHTTP
import ErrandRecording
import ErrandSystem
import ErrandTransport

/// The queue, connections, circuits and memory, as JSON.
struct AgentState: Sendable, Encodable {
    /// A request that waits.
    struct Waiting: Sendable, Encodable {
        var id: Int
        var endpoint: String
        var url: String
        var reason: String
        var priority: Int
        /// The time of the wait so far, in milliseconds.
        var waited: Double
        var isHeld: Bool
    }

    /// The transfers to an address in the recorded requests.
    struct Peer: Sendable, Encodable {
        var host: String
        var address: String
        var version: String
        /// The transfers that opened a connection, used one that was open, or run now.
        var opened = 0
        var reused = 0
        var active = 0
        var received: Int64 = 0
    }

    /// A connection of the transport.
    struct Connection: Sendable, Encodable {
        var id: UInt64
        /// The host and the port.
        var host: String
        var address: String
        var version: String
        var isSecure: Bool
        /// The number of recorded transfers that use it, or have used it.
        var requests: Int
        /// The time since it was opened, up to its end, in milliseconds; `nil` if that was before the inspector started.
        var age: Double?
        /// The time since its end, in milliseconds; `nil` while it is open.
        var closed: Double?
        /// Why it was closed, as a sentence.
        var reason: String?
    }

    /// The circuit breaker of a host.
    struct Circuit: Sendable, Encodable {
        var host: String
        var state: String
        var failures: Int
        /// The time until the next request may probe the host, in milliseconds.
        var remaining: Double?
    }

    var waiting: [Waiting]
    /// The number of requests in progress, waiting ones included.
    var inProgress: Int
    var limits: [String]
    /// The number of open connections; `nil` if the transport does not count them.
    var openConnections: Int?
    var transport: String
    /// The open connections, the oldest first.
    var connections: [Connection]
    /// The latest closed connections, the last one first.
    var closedConnections: [Connection]
    var peers: [Peer]
    var circuits: [Circuit]
    var recorded: Int
    var maximumRequests: Int
    var bodyBytes: Int
    var maximumMemory: Int

    init(_ agent: RequestAgent, _ recorder: InspectorRecorder, _ redaction: RedactionRules) {
        let now = recorder.clock.uptime
        let requests = recorder.records.map(\.request)
        let tasks = RunningTasks(agent, of: requests)
        waiting = requests.compactMap { recorded in
            let request = tasks.completed(recorded)
            guard request.outcome == nil,
                let reason = request.waitReason(now: now, obstacle: tasks.obstacle(of: request))
            else { return nil }
            let url = request.transfers.last?.messages.request.url.string
            return Waiting(
                id: request.id, endpoint: request.endpoint,
                url: url.map(redaction.url) ?? request.shortURL ?? "", reason: reason,
                priority: request.priority.rawValue,
                waited: max(0, (now - request.activityStart) / .milliseconds(1)),
                isHeld: request.activity == .held)
        }
        // The order of admission: by priority, then by arrival.
        waiting.sort { ($0.priority, $1.id) > ($1.priority, $0.id) }
        inProgress = agent.activeTasks.count
        limits = Self.limits(agent.configuration.limits)
        openConnections =
            (agent.transport as? any ConnectionReporting)?.connectionReports.openConnections
        transport = agent.transport.name
        let log = recorder.connections
        let uses = ConnectionUses(requests)
        connections = log.open.map { Connection($0, uses, now: now) }
        closedConnections = log.closed.map { Connection($0, uses, now: now) }
        peers = Self.peers(requests)
        circuits = agent.circuits.map { host, circuit in
            Self.circuit(host, circuit, now: now)
        }.sorted { $0.host < $1.host }
        recorded = requests.count
        maximumRequests = recorder.limits.requests
        bodyBytes = recorder.bodyBytes
        maximumMemory = recorder.limits.memory
    }

    private static func limits(_ limits: RequestLimits) -> [String] {
        var texts: [String] = []
        if let total = limits.total { texts.append("\(total) in total") }
        if let perHost = limits.perHost { texts.append("\(perHost) for each host") }
        for (tag, count) in limits.perTag.sorted(by: { $0.key < $1.key }) {
            texts.append("\(count) with tag \(tag)")
        }
        if let waiting = limits.waiting { texts.append("\(waiting) waiting") }
        return texts
    }

    static func peers(_ requests: [InspectedRequest]) -> [Peer] {
        var peers: [String: Peer] = [:]
        for transfer in requests.flatMap(\.transfers) where !transfer.isSimulated {
            let host = transfer.messages.request.url.host ?? ""
            let head = transfer.messages.head
            let address = head?.remoteAddress ?? ""
            let version = head?.httpVersion?.rawValue ?? ""
            // A transfer without a response has neither address nor version.
            let key = "\(host) \(address) \(version)"
            var peer = peers[key] ?? Peer(host: host, address: address, version: version)
            switch (transfer.end, transfer.messages.end.timings.reusedConnection) {
            case (nil, _): peer.active += 1
            case (_, true): peer.reused += 1
            case (_, false): peer.opened += 1
            case (_, nil): break
            }
            peer.received += transfer.messages.end.timings.bytesReceived
            peers[key] = peer
        }
        return peers.values.sorted { ($0.host, $0.address) < ($1.host, $1.address) }
    }

    static func circuit(_ host: String, _ circuit: CircuitBreaker, now: Duration) -> Circuit {
        switch circuit.state {
        case .closed(let failures):
            Circuit(host: host, state: "closed", failures: failures)
        case .open(let until):
            Circuit(
                host: host, state: "open", failures: 0,
                remaining: max(0, (until - now) / .milliseconds(1)))
        case .halfOpen(let until):
            Circuit(
                host: host, state: "half open", failures: 0,
                remaining: max(0, (until - now) / .milliseconds(1)))
        }
    }
}

/// The numbers and versions of the recorded transfers, by connection.
struct ConnectionUses {
    private var counts: [UInt64: Int] = [:]
    private var versions: [UInt64: HTTPVersion] = [:]

    init(_ requests: [InspectedRequest]) {
        for transfer in requests.lazy.flatMap(\.transfers) {
            guard let id = transfer.messages.connection?.id else { continue }
            counts[id, default: 0] += 1
            if let version = transfer.messages.head?.httpVersion { versions[id] = version }
        }
    }

    /// The number of recorded transfers over a connection.
    func count(_ connection: Response.Connection) -> Int { counts[connection.id] ?? 0 }

    /// The HTTP version, which a response shows if it was not known before.
    func version(_ connection: Response.Connection) -> HTTPVersion? {
        connection.httpVersion ?? versions[connection.id]
    }
}

extension AgentState.Connection {
    fileprivate init(_ entry: ConnectionLog.Entry, _ uses: ConnectionUses, now: Duration) {
        let connection = entry.connection
        id = connection.id
        host = "\(connection.host):\(connection.port)"
        address = connection.remoteAddress ?? ""
        version = uses.version(connection)?.rawValue ?? ""
        isSecure = connection.isSecure
        requests = uses.count(connection)
        age = entry.opened.map { max(0, ((entry.closed ?? now) - $0) / .milliseconds(1)) }
        closed = entry.closed.map { max(0, (now - $0) / .milliseconds(1)) }
        reason = entry.reason?.sentence
    }
}

/// The tasks of recorded requests that have not ended.
struct RunningTasks {
    private let tasks: [UUID: RequestTask]

    /// Reads the agent's tasks, if one of the requests has not ended.
    init(_ agent: RequestAgent, of requests: [InspectedRequest]) {
        guard requests.contains(where: { $0.outcome == nil }) else {
            tasks = [:]
            return
        }
        tasks = Dictionary(agent.activeTasks.map { ($0.id, $0) }) { first, _ in first }
    }

    /// Why a request waits for a concurrency permit; `nil` if it does not wait for one.
    func obstacle(of request: InspectedRequest) -> ConcurrencyLimiterState.Obstacle? {
        request.outcome == nil ? tasks[request.taskID]?.queueObstacle : nil
    }

    /// The request, with the state of its task if it has no events.
    func completed(_ request: InspectedRequest) -> InspectedRequest {
        guard !request.observesEvents, request.outcome == nil, let task = tasks[request.taskID]
        else { return request }
        var request = request
        if task.phase == .suspended {
            request.activity = .suspended
        } else if task.queueObstacle != nil {
            request.activity = .queued
        }
        return request
    }
}

/// The entries of the store, as JSON.
struct StoredEntryList: Sendable, Encodable {
    /// An entry.
    struct Entry: Sendable, Encodable {
        /// The hash of the key, by which the page removes the entry.
        var hash: String
        var url: String
        /// The times, in milliseconds since 1970.
        var stored: Double
        var expires: Double?
        var size: Int
        var tag: Int
        /// Whether the entry belongs to a user.
        var hasIdentity: Bool
    }

    /// The latest entries, at most ``maximumEntries``.
    var entries: [Entry]
    /// The number of all entries.
    var count: Int
    var bytes: Int
    /// Whether the agent has a store.
    var hasStore: Bool

    static let maximumEntries = 1000

    init(_ store: (any ResponseStore)?, _ redaction: RedactionRules) async throws(RequestError) {
        let all = try await store?.entries() ?? []
        hasStore = store != nil
        count = all.count
        bytes = all.reduce(0) { $0 + $1.size }
        entries = all.sorted { $0.storedAt > $1.storedAt }.prefix(Self.maximumEntries).map {
            Entry(
                hash: String($0.key.hash64, radix: 16), url: redaction.url($0.url),
                stored: $0.storedAt.timeIntervalSince1970 * 1000,
                expires: $0.expiresAt.map { $0.timeIntervalSince1970 * 1000 }, size: $0.size,
                tag: $0.tag, hasIdentity: $0.identity != nil)
        }
    }
}
