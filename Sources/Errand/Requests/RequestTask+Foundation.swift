public import Foundation

extension RequestTask {
    /// The task's progress as a Foundation `Progress`, for views and progress trees.
    ///
    /// The unit is the byte, both directions together. It is indeterminate while the total of a download is unknown.
    /// During an upload, the response counts as one byte until its length is known.
    /// `throughputKey` and `estimatedTimeRemainingKey` of its `userInfo` are rate and time left. Cancelling,
    /// pausing and resuming it does the same to the task. It is updated from any thread, at most ten times a
    /// second, and is complete before a success is delivered.
    nonisolated public func foundationProgress() -> Progress {
        let progress = Progress(
            cancel: { [weak self] in self?.cancel() }, suspend: { [weak self] in self?.suspend() },
            resume: { [weak self] in self?.resume() })
        onProgress { progress.take($0) }
        return progress
    }
}

extension Progress {
    /// Creates an indeterminate progress that controls something.
    package convenience init(
        cancel: @escaping @Sendable () -> Void, suspend: @escaping @Sendable () -> Void,
        resume: @escaping @Sendable () -> Void
    ) {
        self.init(totalUnitCount: -1)
        isCancellable = true
        isPausable = true
        cancellationHandler = cancel
        pausingHandler = suspend
        resumingHandler = resume
    }

    /// Takes over the values of a transfer.
    package func take(_ update: TransferProgress) {
        let (sent, received) = (update.totalBytesToSend, update.totalBytesToReceive)
        if let received {
            let total = TransferProgress.sum(received, sent ?? 0)
            // A transfer of 0 bytes is complete; Foundation would report the fraction 0.
            totalUnitCount = max(1, total)
            completedUnitCount =
                total == 0 ? 1 : TransferProgress.sum(update.bytesSent, update.bytesReceived)
        } else if let sent, sent > 0 {
            // The response is missing, so the upload alone does not complete the progress.
            totalUnitCount = TransferProgress.sum(sent, 1)
            completedUnitCount = min(update.bytesSent, sent)
        } else {
            totalUnitCount = -1
            completedUnitCount = TransferProgress.sum(update.bytesSent, update.bytesReceived)
        }
        let rate = received == nil ? update.bytesSentPerSecond : update.bytesReceivedPerSecond
        setUserInfoObject(rate.map { Int(min($0, 1e15)) }, forKey: .throughputKey)
        setUserInfoObject(
            update.timeLeft.map { $0 / .seconds(1) }, forKey: .estimatedTimeRemainingKey)
    }
}
