import ErrandCore
public import ErrandHTTP
import ErrandSystem
import Synchronization

/// The progress of all downloads together.
extension DownloadQueue {
    /// The progress of all downloads that this process has started: bytes, totals and the rate together.
    ///
    /// The total is `nil` until one has started and each of them knows its own; downloads that still wait are not part
    /// of it. The rate is that of the downloads that run, and `nil` if none does.
    public var progress: TransferProgress { shared.withLock { $0.progress } }

    /// The current ``progress`` and its later values; a slow reader gets the latest.
    ///
    /// A value follows each change, without a limit of the rate. Values are produced on any thread, and read on the
    /// reader's actor. The sequence ends with the queue, not when the downloads have ended.
    public var progressUpdates: AsyncStream<TransferProgress> {
        let id = UUID()
        let (stream, continuation) = AsyncStream.makeStream(
            of: TransferProgress.self, bufferingPolicy: .bufferingNewest(1))
        continuation.onTermination = { [weak self] _ in
            _ = self?.shared.withLock { $0.progressReaders.removeValue(forKey: id) }
        }
        shared.withLock { shared in
            shared.progressReaders[id] = continuation
            continuation.yield(shared.progress)
        }
        return stream
    }

    /// Calls a handler when ``progress`` changes, on any thread, one call at a time.
    ///
    /// If bytes were received before, the first call is with the current value. The value at which no download can run
    /// any more is always delivered. The handler is released with the queue, which it should capture weakly. It may call
    /// the methods of the queue.
    ///
    /// - Parameters:
    ///   - interval: The minimum time between two calls, except that value (default 100 ms).
    ///   - bytes: The number of bytes after which a call happens earlier (default `nil`: never).
    ///   - handler: Called with the new progress.
    public func onProgress(
        every interval: Duration = .milliseconds(100), bytes: Int64? = nil,
        _ handler: @escaping @Sendable (TransferProgress) -> Void
    ) {
        let handler = QueueProgressHandler(
            every: interval, bytes: bytes, agent.clock, handler)
        // On another thread: the caller may hold a lock that the handler needs.
        if add(handler, offersIf: \.hasBytes) { ListenerQueue.run { handler.call() } }
    }

    /// Adds a handler, and offers it the current value if that meets the condition; returns whether it must be called.
    func add(
        _ handler: QueueProgressHandler, offersIf condition: (TransferProgress) -> Bool
    ) -> Bool {
        let now = agent.clock.uptime
        return shared.withLock { shared in
            shared.progressHandlers.append(handler)
            let progress = shared.progress
            return condition(progress) && handler.offer(progress, at: now, isLast: true)
        }
    }
}

extension DownloadQueue.Shared {
    var progress: TransferProgress { QueueProgress.sum(of: state.entries.values) }

    /// Passes the current progress to its readers.
    ///
    /// - Returns: The handlers that must be called, without the lock.
    func offerProgress(at now: Duration) -> [QueueProgressHandler] {
        guard !progressReaders.isEmpty || !progressHandlers.isEmpty else { return [] }
        let progress = self.progress
        for reader in progressReaders.values { reader.yield(progress) }
        let isLast = state.isIdle
        return progressHandlers.filter { $0.offer(progress, at: now, isLast: isLast) }
    }
}
