import ErrandHTTP
import ErrandSystem

/// The downloads of a queue, and which of them may run; a pure state machine.
struct QueueState: Sendable {
    private(set) var entries: [UUID: DownloadQueue.Entry] = [:]
    /// Downloads whose request has not ended, also if they no longer run.
    private(set) var requests: [UUID: String] = [:]
    var limits: DownloadQueue.Limits
    var isPaused = false
    private var lastSequence: Int64 = 0

    init(limits: DownloadQueue.Limits) { self.limits = limits }

    /// All entries in the order in which they were added.
    var ordered: [DownloadQueue.Entry] { entries.values.sorted { $0.sequence < $1.sequence } }

    /// Whether no download waits or runs, except paused ones and those of a paused queue.
    var isIdle: Bool {
        requests.isEmpty
            && (isPaused
                || !entries.values.contains { $0.state == .waiting || $0.state == .running })
    }

    /// Numbers new downloads after those that are stored.
    mutating func number(after sequence: Int64) { lastSequence = max(lastSequence, sequence) }

    /// Entries for new downloads, which are not in the queue before they are restored.
    mutating func reserve(_ downloads: [DownloadQueue.Download]) -> [DownloadQueue.Entry] {
        downloads.map { download in
            lastSequence += 1
            return DownloadQueue.Entry(
                id: UUID(), download: download, state: .waiting, sequence: lastSequence)
        }
    }

    /// Adds an entry of an earlier process; one that ran waits again.
    mutating func restore(_ entry: DownloadQueue.Entry) {
        guard entries[entry.id] == nil else { return }
        var entry = entry
        if entry.state == .running { entry.state = .waiting }
        entries[entry.id] = entry
        number(after: entry.sequence)
    }

    /// The downloads that start now; they run from then on.
    ///
    /// - Parameter isUnmetered: Whether the network is known to be unmetered.
    mutating func start(now: Date, isUnmetered: Bool) -> [DownloadQueue.Entry] {
        guard !isPaused else { return [] }
        var started: [DownloadQueue.Entry] = []
        var hosts: [String: Int] = [:]
        for host in requests.values { hosts[host, default: 0] += 1 }
        var files = Set(requests.keys.compactMap { entries[$0].map { FileKey($0.download) } })
        let candidates = entries.values.filter {
            $0.state == .waiting && requests[$0.id] == nil && $0.download.notBefore ?? now <= now
                && (isUnmetered || !$0.download.requiresUnmeteredNetwork)
        }.sorted {
            ($1.download.priorityLevel, $0.sequence) < ($0.download.priorityLevel, $1.sequence)
        }
        for entry in candidates {
            guard requests.count < max(1, limits.total) else { break }
            let host = Self.host(of: entry.download.url)
            guard hosts[host, default: 0] < max(1, limits.perHost) else { continue }
            // Two requests cannot write one part file.
            guard files.insert(FileKey(entry.download)).inserted else { continue }
            hosts[host, default: 0] += 1
            requests[entry.id] = host
            entries[entry.id]?.state = .running
            entries[entry.id]?.file = nil
            entries[entry.id]?.failure = nil
            started.append(entry)
        }
        return started
    }

    /// The next time at which a download may start; `nil` if none waits for a time.
    func nextTime(after now: Date) -> Date? {
        entries.values.filter { $0.state == .waiting }.compactMap(\.download.notBefore)
            .filter { $0 > now }.min()
    }

    /// The downloads that must stop because the network is no longer unmetered; they wait again.
    mutating func leaveUnmeteredNetwork() -> [UUID] {
        let ids = entries.values.filter {
            $0.state == .running && $0.download.requiresUnmeteredNetwork
        }.map(\.id)
        for id in ids { entries[id]?.state = .waiting }
        return ids
    }

    /// Pauses one download.
    ///
    /// - Returns: Whether its state has changed.
    mutating func pause(_ id: UUID) -> Bool {
        guard let state = entries[id]?.state, state == .waiting || state == .running else {
            return false
        }
        entries[id]?.state = .paused
        return true
    }

    /// Lets a paused download wait.
    mutating func resume(_ id: UUID) -> Bool { change(id) { $0 == .paused ? .waiting : nil } }

    /// Lets a failed download wait.
    mutating func retry(_ id: UUID) -> Bool {
        change(id) { if case .failed = $0 { .waiting } else { nil } }
    }

    private mutating func change(
        _ id: UUID, _ change: (DownloadQueue.State) -> DownloadQueue.State?
    ) -> Bool {
        guard let state = entries[id]?.state, let new = change(state) else { return false }
        entries[id]?.state = new
        entries[id]?.failure = nil
        return true
    }

    mutating func set(priorityLevel level: Int, of id: UUID) -> Bool {
        guard let old = entries[id]?.download.priorityLevel, old != level else { return false }
        entries[id]?.download.priorityLevel = level
        return true
    }

    mutating func take(_ progress: TransferProgress, of id: UUID) {
        entries[id]?.progress = progress
    }

    /// Records the part file of a request.
    ///
    /// - Returns: Whether the entry must be stored.
    mutating func set(_ part: PartIdentity, of id: UUID) -> Bool {
        guard entries[id]?.state == .running, entries[id]?.part != part else { return false }
        entries[id]?.part = part
        return true
    }

    mutating func remove(_ id: UUID) -> DownloadQueue.Entry? { entries.removeValue(forKey: id) }

    /// Pauses the whole queue: downloads that run wait again.
    ///
    /// - Returns: Those whose requests must be cancelled.
    mutating func pauseAll() -> [UUID] {
        isPaused = true
        for id in requests.keys where entries[id]?.state == .running {
            entries[id]?.state = .waiting
        }
        return Array(requests.keys)
    }

    /// Records the end of a request.
    ///
    /// - Returns: Whether the entry must be stored: its state has changed by this end.
    mutating func ended(_ id: UUID, _ result: Result<DownloadedFile, RequestError>) -> Bool {
        requests[id] = nil
        guard let entry = entries[id] else { return false }
        switch result {
        // Complete, although it was to stop.
        case .success(let file):
            entries[id]?.state = .finished(file.file)
            entries[id]?.file = file
        case .failure where entry.state != .running: return false
        case .failure(let error):
            // The task was cancelled by other means, such as those of the agent.
            entries[id]?.state = error.isCancellation ? .paused : .failed(error.description)
            entries[id]?.failure = error.isCancellation ? nil : DownloadQueue.Failure(error)
        }
        return true
    }

    /// The file that a download writes.
    private struct FileKey: Hashable {
        let destination: URL
        let url: EndpointURL

        init(_ download: DownloadQueue.Download) {
            (destination, url) = (download.destination, download.url)
        }
    }

    private static func host(of url: EndpointURL) -> String {
        (try? URIParser.parse(url.text))?.host ?? ""
    }
}
