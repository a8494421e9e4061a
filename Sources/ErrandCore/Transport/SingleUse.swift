import Synchronization

/// What a body that can be made only once remembers: whether it was sent, and whether it was made.
package final class SingleUse: Sendable {
    private let wasMade = Atomic(false)
    private let wasSent = Atomic(false)

    package init() {}

    /// Whether there is nothing left to send.
    package var isSpent: Bool {
        wasSent.load(ordering: .acquiring) || wasMade.load(ordering: .acquiring)
    }

    /// A transfer with the body begins.
    package func send() { wasSent.store(true, ordering: .releasing) }

    /// The body is made.
    ///
    /// - Throws: ``RequestError/Code/bodyNotReplayable`` the second time.
    package func make() throws(RequestError) {
        guard wasMade.exchange(true, ordering: .acquiringAndReleasing) else { return }
        throw RequestError(
            .bodyNotReplayable, stage: .build,
            "The request's body is a stream that can be made only once, and it has been: sent, or read by a request processor. "
                + "Give one that can be made anew, and leave isReplayable out.")
    }
}
