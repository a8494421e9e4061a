public import Foundation

extension RequestTask {
    /// The task's progress as a Foundation `Progress`, for views and progress trees.
    ///
    /// The unit is the byte, both directions together; it is indeterminate while a total is unknown.
    /// `throughputKey` and `estimatedTimeRemainingKey` of its `userInfo` are rate and time left. Cancelling,
    /// pausing and resuming it does the same to the task. It is updated from any thread, at most ten times a
    /// second, and is complete before a success is delivered.
    nonisolated public func foundationProgress() -> Progress {
        let progress = Progress(totalUnitCount: -1)
        progress.isCancellable = true
        progress.isPausable = true
        progress.cancellationHandler = { [weak self] in self?.cancel() }
        progress.pausingHandler = { [weak self] in self?.suspend() }
        progress.resumingHandler = { [weak self] in self?.resume() }
        onProgress { update in
            let received = update.totalBytesToReceive
            let total =
                received.map { TransferProgress.sum($0, update.totalBytesToSend ?? 0) } ?? -1
            let done = TransferProgress.sum(update.bytesSent, update.bytesReceived)
            // A transfer of 0 bytes is complete; Foundation would report the fraction 0.
            progress.totalUnitCount = total == 0 ? 1 : total
            progress.completedUnitCount = total == 0 ? 1 : done
            let rate =
                received == nil ? update.bytesSentPerSecond : update.bytesReceivedPerSecond
            progress.setUserInfoObject(
                rate.map { Int(min($0, 1e15)) }, forKey: .throughputKey)
            progress.setUserInfoObject(
                update.timeLeft.map { $0 / .seconds(1) }, forKey: .estimatedTimeRemainingKey)
        }
        return progress
    }
}
