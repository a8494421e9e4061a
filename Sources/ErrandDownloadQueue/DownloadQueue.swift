public import ErrandCore
public import ErrandHTTP
import ErrandSQLite
public import ErrandSystem
import ErrandTransport
import Synchronization

/// A list of downloads that is stored in a database, and continued after a restart.
///
///     let queue = DownloadQueue(path: folder + "/downloads.sqlite", agent: .shared)
///     try await queue.open()
///     try await queue.add([.init("https://example.com/a.iso", to: folder)])
///     for await entries in queue.updates { show(entries) }
///
/// A download is in the database before ``add(_:)`` returns. A process that is killed leaves part files, and the next
/// ``open()`` continues them. Its methods can be called from any thread.
///
/// Only one queue uses a database at a time: from ``open()``, or an earlier ``add(_:)``, until ``close()``, its
/// release, or the end of its process. Other queues with the same path, in any process, throw an error until then.
public final class DownloadQueue: Sendable {
    struct Shared {
        var state: QueueState
        var tasks: [UUID: RequestTask] = [:]
        /// Downloads whose requests are to be cancelled, and whether their part files are removed.
        var stops: [UUID: Bool] = [:]
        /// The requests that have received bytes.
        var begun: Set<UUID> = []
        var eventReaders: [UUID: AsyncStream<Event>.Continuation] = [:]
        var isOpen = false
        /// Whether the queue has locked the database until ``close()``.
        var holdsLock = false
        /// Whether the stored sequence numbers are known.
        var hasNumbers = false
        /// The number of ended requests whose end is being recorded.
        var endings = 0
        var endWaiters: [CheckedContinuation<Void, Never>] = []
        var progressReaders: [UUID: AsyncStream<TransferProgress>.Continuation] = [:]
        var progressHandlers: [QueueProgressHandler] = []
        var readers: [UUID: AsyncStream<[Entry]>.Continuation] = [:]
        var idleWaiters: [Waiter] = []
        var timer: Task<Void, Never>?
        var network: Task<Void, Never>?
        /// The last write, after which the next one begins.
        var write: Task<RequestError?, Never>?

        /// Whether each request has ended, and the write of its end has begun.
        var hasNoRequests: Bool { state.requests.isEmpty && endings == 0 }
    }

    let agent: RequestAgent
    let retryPolicy: RetryPolicy
    private let database: DownloadQueueDatabase
    private let lock: QueueLock
    let shared: Mutex<Shared>
    let bandwidth: BandwidthLimit
    let urlRefresh: URLRefresh?

    /// Returns the next absolute URL of a download whose URL has expired; `nil` ends the download with the error.
    ///
    /// Called on any thread after the status codes 401, 403, 404 and 410; see ``DownloadPlan/urlRefresh``.
    public typealias URLRefresh =
        @Sendable (_ download: Download, _ error: RequestError) async throws -> String?

    /// Creates a queue; nothing is read or sent before ``open()``.
    ///
    /// - Parameters:
    ///   - path: The path of the database, which need not exist yet.
    ///   - agent: Performs the requests, within its own limits.
    ///   - limits: The limits of the queue.
    ///   - retryPolicy: The policy of each download that has none of its own. Attempts with new bytes start its count
    ///     again.
    ///   - urlRefresh: The source of URLs in place of expired ones (default `nil`: none). A closure cannot be stored, so
    ///     it is given to each queue; ``Download/metadata`` can identify the download for it.
    public init(
        path: String, agent: RequestAgent, limits: Limits = Limits(),
        retryPolicy: RetryPolicy = RetryPolicy(maximumAttempts: 5),
        urlRefresh: URLRefresh? = nil
    ) {
        self.agent = agent
        self.urlRefresh = urlRefresh
        self.retryPolicy = retryPolicy
        let database = DownloadQueueDatabase(path: path)
        self.database = database
        lock = QueueLock(path: database.path)
        shared = Mutex(Shared(state: QueueState(limits: limits)))
        bandwidth = BandwidthLimit(bytesPerSecond: limits.bytesPerSecond, clock: agent.clock)
    }

    deinit {
        let shared = shared.withLock { $0 }
        shared.timer?.cancel()
        shared.network?.cancel()
        for task in shared.tasks.values { task.cancel(discardingPart: false) }
        for reader in shared.readers.values { reader.finish() }
        for reader in shared.progressReaders.values { reader.finish() }
        for reader in shared.eventReaders.values { reader.finish() }
        for waiter in shared.idleWaiters { waiter.resume() }
    }

    // MARK: - Contents

    /// Reads the database, and starts the downloads that wait; no effect on an open queue.
    ///
    /// - Throws: ``RequestError/Code/storeFailed``, also if another queue, in any process, uses the database;
    ///   ``RequestError/Code/invalidConfiguration`` for limits below 1.
    public func open() async throws(RequestError) {
        try limits.check()
        let entries = try await read().compactMap(Entry.init)
        let known = shared.withLock { Set($0.state.entries.keys) }
        let finished = await finishedFiles(of: entries.filter { !known.contains($0.id) })
        shared.withLock { shared in
            for var entry in entries {
                if let file = finished[entry.id] {
                    entry.state = .finished(file.file)
                    entry.file = file
                }
                shared.state.restore(entry)
            }
            shared.isOpen = true
        }
        for id in finished.keys { write(id) }
        watchNetwork()
        advance()
    }

    /// Cancels the requests, keeps their part files, and waits for their ends; ``open()`` continues.
    ///
    /// Other queues can use the database then.
    public func close() async {
        let tasks = shared.withLock { shared in
            shared.isOpen = false
            let isPaused = shared.state.isPaused
            for id in shared.state.pauseAll() { shared.stops[id] = false }
            shared.state.isPaused = isPaused
            shared.timer?.cancel()
            shared.network?.cancel()
            (shared.timer, shared.network) = (nil, nil)
            return Array(shared.tasks.values)
        }
        for task in tasks { task.cancel(discardingPart: false) }
        for task in tasks { await task.untilEnded() }
        await untilRequestsEnd()
        _ = await shared.withLock { $0.write }?.value
        // Unless another call has opened the queue again.
        if !shared.withLock({ $0.isOpen }) { releaseLock() }
    }

    /// Locks the database until ``close()``, and reads it.
    private func read() async throws(RequestError) -> [DownloadQueueDatabase.Row] {
        try lock.acquire()
        let wasHeld = shared.withLock { exchange(&$0.holdsLock, with: true) }
        if wasHeld { lock.release() }
        do throws(RequestError) {
            let rows = try await database.rows()
            shared.withLock { shared in
                shared.state.number(after: rows.last?.sequence ?? 0)
                shared.hasNumbers = true
            }
            return rows
        } catch {
            if !wasHeld { releaseLock() }
            throw error
        }
    }

    private func releaseLock() {
        let wasHeld = shared.withLock { shared in
            shared.hasNumbers = false
            return exchange(&shared.holdsLock, with: false)
        }
        if wasHeld { lock.release() }
    }

    /// Adds downloads after all others, and starts them as the limits allow.
    ///
    /// It can be called before ``open()``: the downloads are stored after those of earlier processes, and start when
    /// the queue is opened.
    ///
    /// - Returns: The identifiers of the entries.
    /// - Throws: ``RequestError/Code/storeFailed``, also if another queue uses the database;
    ///   ``RequestError/Code/invalidURL`` for a URL with a value that would lead to another file;
    ///   ``RequestError/Code/invalidConfiguration`` for headers with credentials, for digests or segments that no
    ///   download can have, for a date that is not finite, for a retry policy or timeouts that no request can have, and
    ///   for limits of the queue below 1. None was added then.
    @discardableResult
    public func add(_ downloads: [Download]) async throws(RequestError) -> [UUID] {
        try limits.check()
        let names = agent.configuration.secretNames
        for download in downloads { try download.check(names) }
        if !shared.withLock({ $0.hasNumbers }) { _ = try await read() }
        let entries = shared.withLock { $0.state.reserve(downloads) }
        try await database.save(entries.map(\.row))
        shared.withLock { shared in
            for entry in entries { shared.state.restore(entry) }
        }
        advance()
        return entries.map(\.id)
    }

    /// Removes an entry; a request in progress is cancelled, and its end is waited for.
    ///
    /// The finished file stays in any case. The part file stays if another entry of the queue needs it.
    ///
    /// - Parameters:
    ///   - id: The entry.
    ///   - discardingPart: Whether the part file is removed, also that of a download which does not run (default true).
    /// - Throws: ``RequestError/Code/storeFailed``.
    public func remove(_ id: UUID, discardingPart: Bool = true) async throws(RequestError) {
        let (removed, task) = shared.withLock { ($0.state.remove(id), $0.tasks[id]) }
        guard let removed else { return }
        stop([id], discardingPart: discardingPart)
        try await changed(id)
        await task?.untilEnded()
        if discardingPart { await removePart(of: removed.download) }
    }

    // MARK: - Changes

    /// Pauses a download that waits or runs, also beyond a restart.
    ///
    /// - Throws: ``RequestError/Code/storeFailed``.
    public func pause(_ id: UUID) async throws(RequestError) {
        guard shared.withLock({ $0.state.pause(id) }) else { return }
        stop([id], discardingPart: false)
        try await changed(id)
    }

    /// Lets a paused download wait for its turn.
    ///
    /// - Throws: ``RequestError/Code/storeFailed``.
    public func resume(_ id: UUID) async throws(RequestError) {
        if shared.withLock({ $0.state.resume(id) }) { try await changed(id) }
    }

    /// Lets a failed download wait for its turn again.
    ///
    /// - Throws: ``RequestError/Code/storeFailed``.
    public func retry(_ id: UUID) async throws(RequestError) {
        if shared.withLock({ $0.state.retry(id) }) { try await changed(id) }
    }

    /// Changes the priority of a download: its turn if it waits, and that of its request if it runs.
    ///
    /// - Throws: ``RequestError/Code/storeFailed``.
    public func setPriority(_ priority: RequestPriority, of id: UUID) async throws(RequestError) {
        try await setPriorityLevel(priority.rawValue, of: id)
    }

    /// Changes ``Download/priorityLevel`` of a download: its turn if it waits, and the priority of its request if it runs.
    ///
    /// - Throws: ``RequestError/Code/storeFailed``.
    public func setPriorityLevel(_ level: Int, of id: UUID) async throws(RequestError) {
        let (hasChanged, task) = shared.withLock {
            ($0.state.set(priorityLevel: level, of: id), $0.tasks[id])
        }
        guard hasChanged else { return }
        task?.priority = RequestPriority(level: level)
        try await changed(id)
    }

    /// Whether the whole queue is paused; not stored (default false).
    ///
    /// The requests in progress are cancelled, and keep their part files.
    public var isPaused: Bool {
        get { shared.withLock { $0.state.isPaused } }
        set {
            if newValue {
                stop(shared.withLock { $0.state.pauseAll() }, discardingPart: false)
            } else {
                shared.withLock { $0.state.isPaused = false }
            }
            advance()
        }
    }

    /// The limits; a change applies at once, except that running downloads are not stopped.
    ///
    /// With a limit below 1, ``open()`` and ``add(_:)`` throw ``RequestError/Code/invalidConfiguration``, and downloads
    /// fail with it: those that wait, and with a bandwidth below 1 also those that run.
    public var limits: Limits {
        get { shared.withLock { $0.state.limits } }
        set {
            shared.withLock { $0.state.limits = newValue }
            bandwidth.bytesPerSecond = newValue.bytesPerSecond
            advance()
        }
    }

    /// Stores an entry, and starts what its change allows.
    private func changed(_ id: UUID) async throws(RequestError) {
        advance()
        try await persist(id)
    }

    /// Writes the current state of an entry.
    private func persist(_ id: UUID) async throws(RequestError) {
        if let error = await write(id).value { throw error }
    }

    /// Starts to write the current state of an entry, after all earlier writes.
    @discardableResult
    func write(_ id: UUID) -> Task<RequestError?, Never> {
        shared.withLock { shared in
            let previous = shared.write
            let write = Task { [self] () -> RequestError? in
                _ = await previous?.value
                do throws(RequestError) {
                    // A closed queue locks the database for each change.
                    try lock.acquire()
                    defer { lock.release() }
                    if let row = self.shared.withLock({ $0.state.entries[id]?.row }) {
                        try await database.save([row])
                    } else {
                        try await database.remove(id)
                    }
                    return nil
                } catch {
                    return error
                }
            }
            shared.write = write
            return write
        }
    }
}

extension DownloadQueue.Entry {
    /// The stored form.
    private struct Stored: Codable {
        var download: DownloadQueue.Download
        var state: DownloadQueue.State
        var part: PartIdentity?
        /// Missing in the databases of earlier versions, as the failure.
        var file: DownloadQueue.StoredFile?
        var failure: DownloadQueue.Failure?
    }

    /// `nil` for an entry that cannot be read.
    init?(_ row: DownloadQueueDatabase.Row) {
        guard let stored = try? JSONReader().decode(Stored.self, from: row.entry) else {
            return nil
        }
        self.init(
            id: row.id, download: stored.download, state: stored.state, part: stored.part,
            sequence: row.sequence)
        if case .finished = state { file = stored.file?.value }
        if case .failed = state { failure = stored.failure }
    }

    var row: DownloadQueueDatabase.Row {
        let stored = Stored(
            download: download, state: state == .running ? .waiting : state, part: part,
            file: file.map(DownloadQueue.StoredFile.init), failure: failure)
        return DownloadQueueDatabase.Row(
            id: id, sequence: sequence, entry: (try? JSONEncoder().encode(stored)) ?? Data())
    }
}
