import ErrandHTTP

/// The progress of all downloads of a queue together; pure.
enum QueueProgress {
    static func sum(of entries: some Sequence<DownloadQueue.Entry>) -> TransferProgress {
        var sum = TransferProgress()
        var (total, hasStarted): (Int64?, Bool) = (0, false)
        for entry in entries {
            let progress = entry.progress
            // Not started by this process.
            if progress == TransferProgress(), entry.state != .running { continue }
            hasStarted = true
            sum.bytesReceived = TransferProgress.sum(sum.bytesReceived, progress.bytesReceived)
            sum.resumedBytes = TransferProgress.sum(sum.resumedBytes, progress.resumedBytes)
            total = total.flatMap { total in
                progress.totalBytesToReceive.map { TransferProgress.sum(total, $0) }
            }
            if entry.state == .running, let rate = progress.bytesReceivedPerSecond {
                sum.bytesReceivedPerSecond = (sum.bytesReceivedPerSecond ?? 0) + rate
            }
        }
        sum.totalBytesToReceive = hasStarted ? total : nil
        return sum
    }
}
