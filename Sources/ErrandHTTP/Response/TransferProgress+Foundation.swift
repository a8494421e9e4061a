#if Foundation || URLSession || canImport(Darwin)
    // Foundation: Progress
    package import Foundation

    extension Progress {
        /// Creates an indeterminate progress that controls something.
        ///
        /// - Parameter cancel: Called when it is cancelled; `nil` if it cannot be cancelled.
        package convenience init(
            cancel: (@Sendable () -> Void)?, suspend: @escaping @Sendable () -> Void,
            resume: @escaping @Sendable () -> Void
        ) {
            self.init(totalUnitCount: -1)
            isCancellable = cancel != nil
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
            let isReceiving =
                received != nil || update.bytesReceived > 0 && update.bytesSent >= sent ?? 0
            let rate = isReceiving ? update.bytesReceivedPerSecond : update.bytesSentPerSecond
            setUserInfoObject(rate.map { Int(min($0, 1e15)) }, forKey: .throughputKey)
            setUserInfoObject(
                update.timeLeft.map { $0 / .seconds(1) }, forKey: .estimatedTimeRemainingKey)
        }
    }
#endif
