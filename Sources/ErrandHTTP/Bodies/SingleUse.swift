import Synchronization

/// The state of a body that can be created only once: whether it was created and whether it was sent.
package final class SingleUse: Sendable {
    private let wasCreated = Atomic(false)
    private let wasSent = Atomic(false)

    package init() {}

    /// Whether the body was already consumed.
    package var isConsumed: Bool {
        wasSent.load(ordering: .acquiring) || wasCreated.load(ordering: .acquiring)
    }

    /// Records that a transfer with the body starts.
    package func markSent() { wasSent.store(true, ordering: .releasing) }

    /// Records that the body is created.
    ///
    /// - Throws: ``RequestError/Code/bodyNotReplayable`` at the second call.
    package func markCreated() throws(RequestError) {
        guard wasCreated.exchange(true, ordering: .acquiringAndReleasing) else { return }
        throw RequestError(
            .bodyNotReplayable, stage: .build,
            "The body stream is not replayable and was already consumed, by a transfer or by a request processor. "
                + "Provide a stream that can be created again, and omit isReplayable: false.")
    }
}
