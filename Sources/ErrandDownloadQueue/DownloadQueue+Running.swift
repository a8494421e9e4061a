import ErrandCore
public import ErrandHTTP
import ErrandSystem
import Synchronization

/// The requests of a queue, and its readers.
extension DownloadQueue {
    /// Starts the downloads whose turn it is.
    func advance() {
        let started = shared.withLock { shared -> [Entry] in
            guard shared.isOpen else { return [] }
            let started = shared.state.start(now: agent.clock.now, isUnmetered: isUnmetered)
            for entry in started { shared.emit(.started(entry.id)) }
            return started
        }
        for entry in started { run(entry) }
        scheduleTimer()
        publish()
    }

    private func run(_ entry: Entry) {
        let id = entry.id
        let task = agent.start(description(of: entry.download))
        let stop = shared.withLock { shared in
            shared.tasks[id] = task
            return shared.stops[id]
        }
        task.onProgress(every: .zero) { [weak self] in self?.take($0, of: id) }
        task.whenEnded { [weak self] outcome in self?.ended(id, task, outcome) }
        if let stop { task.cancel(discardingPart: stop) }
    }

    private func description(of download: Download) -> RequestDescription {
        var description = RequestDescription(endpoint: "DownloadQueue", url: download.url)
        description.download = download.plan
        if let urlRefresh {
            description.download?.urlRefresh = { try await urlRefresh(download, $0) }
        }
        description.bandwidth = bandwidth
        description.timeouts = download.timeouts
        description.mistake = limits.fault
        description.headers = download.headers
        description.sending.priority = download.priority
        description.retryPolicy = download.retryPolicy ?? retryPolicy
        return description
    }

    /// Records the progress of a download, and its part file when the first bytes have arrived.
    private func take(_ progress: TransferProgress, of id: UUID) {
        let begun = shared.withLock { shared -> Download? in
            // A late value of a request that has ended.
            guard shared.state.requests[id] != nil else { return nil }
            shared.state.take(progress, of: id)
            guard progress.bytesReceived > progress.resumedBytes,
                shared.begun.insert(id).inserted
            else { return nil }
            return shared.state.entries[id]?.download
        }
        if let begun { recordPart(of: id, begun, total: progress.totalBytesToReceive) }
        publish()
    }

    private func ended(_ id: UUID, _ task: RequestTask, _ outcome: TaskOutcome) {
        let result = outcome.result.flatMap { response -> Result<DownloadedFile, RequestError> in
            response.downloadedFile.map { .success($0) }
                ?? .failure(RequestError(.fileFailed, stage: .decode, "The download has no file."))
        }
        let progress = task.progress.current
        let hasChanged = shared.withLock { shared in
            shared.endings += 1
            (shared.tasks[id], shared.stops[id]) = (nil, nil)
            shared.begun.remove(id)
            shared.state.take(progress, of: id)
            let hasChanged = shared.state.ended(id, result)
            if let state = shared.state.entries[id]?.state { shared.emit(.ended(id, state)) }
            return hasChanged
        }
        // A write that fails leaves the entry waiting: the next process downloads the file again.
        if hasChanged { write(id) }
        let waiters = shared.withLock { shared in
            shared.endings -= 1
            return shared.hasNoRequests ? exchange(&shared.endWaiters, with: []) : []
        }
        for waiter in waiters { waiter.resume() }
        advance()
    }

    /// Waits until each request has ended, and the write of its end has begun.
    func untilRequestsEnd() async {
        await withCheckedContinuation { continuation in
            let hasEnded = shared.withLock { shared in
                if shared.hasNoRequests { return true }
                shared.endWaiters.append(continuation)
                return false
            }
            if hasEnded { continuation.resume() }
        }
    }

    /// Cancels requests in progress.
    func stop(_ ids: [UUID], discardingPart: Bool) {
        let tasks = shared.withLock { shared in
            ids.compactMap { id -> RequestTask? in
                guard shared.state.requests[id] != nil else { return nil }
                shared.stops[id] = discardingPart
                return shared.tasks[id]
            }
        }
        for task in tasks { task.cancel(discardingPart: discardingPart) }
    }

    // MARK: - Time and network

    private var isUnmetered: Bool {
        guard let status = agent.configuration.reachability?.current else { return false }
        return status.isConnected == true && !status.isExpensive && !status.isConstrained
    }

    func watchNetwork() {
        guard let changes = agent.configuration.reachability?.changes() else { return }
        let watch = Task { [weak self] in
            for await _ in changes { self?.networkChanged() }
        }
        let old = shared.withLock { exchange(&$0.network, with: watch) }
        old?.cancel()
    }

    private func networkChanged() {
        if !isUnmetered {
            stop(shared.withLock { $0.state.leaveUnmeteredNetwork() }, discardingPart: false)
        }
        advance()
    }

    /// The longest wait for the time of a download until the date is read again.
    static let longestWait = Duration.seconds(60)

    private func scheduleTimer() {
        let now = agent.clock.now
        let old = shared.withLock { shared -> Task<Void, Never>? in
            let old = shared.timer
            shared.timer = nil
            guard shared.isOpen, let next = shared.state.nextTime(after: now) else { return old }
            // Short waits notice that the system date was changed.
            let delay = min(Self.longestWait / .seconds(1), next.timeIntervalSince(now))
            shared.timer = Task { [clock = agent.clock, weak self] in
                guard (try? await clock.sleep(for: .seconds(delay))) != nil else { return }
                self?.advance()
            }
            return old
        }
        old?.cancel()
    }

    // MARK: - Readers

    /// The entries in the order in which they were added.
    public var entries: [Entry] { shared.withLock { $0.state.ordered } }

    /// The current entries and their later values; a slow reader gets the latest.
    ///
    /// A value follows each change of a state or of progress. The sequence ends with the queue.
    public var updates: AsyncStream<[Entry]> {
        let id = UUID()
        let (stream, continuation) = AsyncStream.makeStream(
            of: [Entry].self, bufferingPolicy: .bufferingNewest(1))
        continuation.onTermination = { [weak self] _ in
            _ = self?.shared.withLock { $0.readers.removeValue(forKey: id) }
        }
        shared.withLock { shared in
            shared.readers[id] = continuation
            continuation.yield(shared.state.ordered)
        }
        return stream
    }

    /// The starts and ends of requests from now on, in their order; see ``Event``.
    ///
    /// No event is lost for a slow reader. The sequence ends with the queue.
    public var events: AsyncStream<Event> {
        let id = UUID()
        let (stream, continuation) = AsyncStream.makeStream(of: Event.self)
        continuation.onTermination = { [weak self] _ in
            _ = self?.shared.withLock { $0.eventReaders.removeValue(forKey: id) }
        }
        shared.withLock { $0.eventReaders[id] = continuation }
        return stream
    }

    /// Waits until no download runs, and none waits, except paused ones and those of a paused queue.
    ///
    /// - Throws: ``RequestError/Code/cancelled``, at once, if the waiting Swift task is cancelled. The downloads continue.
    public func untilIdle() async throws(RequestError) {
        let isIdle = await Waiter.wait { waiter in
            shared.withLock { shared in
                guard !shared.state.isIdle else { return false }
                shared.idleWaiters.append(waiter)
                return true
            }
        } leave: { waiter in
            shared.withLock { $0.idleWaiters.removeAll { $0 === waiter } }
        }
        guard isIdle else { throw .cancelled }
    }

    private func publish() {
        let now = agent.clock.uptime
        let (handlers, waiters) = shared.withLock {
            shared -> ([QueueProgressHandler], [Waiter]) in
            // Yielding under the lock keeps the order; a stream runs no user code.
            if !shared.readers.isEmpty {
                let entries = shared.state.ordered
                for reader in shared.readers.values { reader.yield(entries) }
            }
            let handlers = shared.offerProgress(at: now)
            guard shared.state.isIdle else { return (handlers, []) }
            return (handlers, exchange(&shared.idleWaiters, with: []))
        }
        for handler in handlers { handler.call() }
        for waiter in waiters { waiter.resume() }
    }
}

extension DownloadQueue.Shared {
    /// Emits an event under the lock, which keeps the order; a stream runs no user code.
    func emit(_ event: DownloadQueue.Event) {
        for reader in eventReaders.values { reader.yield(event) }
    }
}
