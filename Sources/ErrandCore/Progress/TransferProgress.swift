/// How far a request is, both ways (rows PRG-2 to PRG-4).
public struct TransferProgress: Sendable, Hashable {
    /// Bytes of the request's body that have gone out.
    public var bytesSent: Int64 = 0
    /// Bytes of the request's body in all; `nil` when unknown.
    public var totalBytesToSend: Int64?
    /// Bytes of the answer's body that have come, those of an earlier run of a download included.
    public var bytesReceived: Int64 = 0
    /// Bytes of the answer's body in all; `nil` when unknown.
    public var totalBytesToReceive: Int64?

    /// Makes progress of nothing.
    public init() {}

    /// Both ways together, from 0 to 1; `nil` while a total is unknown.
    public var fractionCompleted: Double? {
        guard let receive = totalBytesToReceive else { return nil }
        let total = Self.sum(totalBytesToSend ?? 0, receive)
        guard total > 0 else { return 1 }
        return min(1, Double(Self.sum(bytesSent, bytesReceived)) / Double(total))
    }

    /// Two lengths together: a server may announce any number, and two of them may be more than there are.
    package static func sum(_ one: Int64, _ other: Int64) -> Int64 {
        let (sum, isTooMuch) = one.addingReportingOverflow(other)
        return isTooMuch ? .max : sum
    }
}

/// The progress of a task: what it is now, and every change from now on.
///
///     for await progress in task.progress.throttled(every: .milliseconds(100)) { bar.value = progress.fractionCompleted ?? 0 }
public struct ProgressUpdates: AsyncSequence, Sendable {
    private let hub: ProgressHub
    private var interval = Duration.zero
    private var bytes: Int64?

    package init(_ hub: ProgressHub) { self.hub = hub }

    /// The same with fewer changes: the last one is never missed.
    ///
    /// - Parameters:
    ///   - interval: The least time between two changes, on the agent's clock.
    ///   - bytes: So many bytes more, in either direction, are told at once; `nil`, the default, waits for the time.
    public func throttled(every interval: Duration, bytes: Int64? = nil) -> ProgressUpdates {
        var copy = self
        copy.interval = interval
        copy.bytes = bytes
        return copy
    }

    /// The progress at this moment.
    public var current: TransferProgress { hub.current }

    /// Iterates over changes.
    ///
    /// A slow reader misses steps in between, never the last one before the end.
    public func makeAsyncIterator() -> AsyncStream<TransferProgress>.Iterator {
        hub.subscribe(every: interval, bytes: bytes).makeAsyncIterator()
    }
}
