public import Foundation

extension RequestTask {
    /// The task's progress as Foundation has it, for views and trees that want that type.
    ///
    /// Its unit is the byte, both ways together; it is indeterminate while a total is unknown. Cancelling, pausing and
    /// resuming it does the same to the task. It is told from any thread, ten times a second at most, and is
    /// complete before the end of a success is told.
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
            // Nothing at all to transfer is all of it: a fraction of nothing would be 0.
            progress.totalUnitCount = total == 0 ? 1 : total
            progress.completedUnitCount = total == 0 ? 1 : done
        }
        return progress
    }
}
