import ErrandHTTP

/// The progress of all downloads of a queue together; pure.
enum QueueProgress {
    static func sum(of entries: some Sequence<DownloadQueue.Entry>) -> TransferProgress {
        var sum = TransferProgress()
        var total: Int64? = 0
        for entry in entries {
            let progress = entry.progress
            // Not started by this process.
            if progress == TransferProgress(), entry.state != .running { continue }
            sum.bytesReceived = TransferProgress.sum(sum.bytesReceived, progress.bytesReceived)
            sum.resumedBytes = TransferProgress.sum(sum.resumedBytes, progress.resumedBytes)
            total = total.flatMap { total in
                progress.totalBytesToReceive.map { TransferProgress.sum(total, $0) }
            }
            if entry.state == .running, let rate = progress.bytesReceivedPerSecond {
                sum.bytesReceivedPerSecond = (sum.bytesReceivedPerSecond ?? 0) + rate
            }
        }
        sum.totalBytesToReceive = total
        return sum
    }
}
