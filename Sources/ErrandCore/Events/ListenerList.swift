/// The listeners of a configuration; what they observe is read once.
package struct ListenerList: Sendable {
    /// A class, because a call of its listener copies no existential.
    private final class Member: Sendable {
        let listener: any RequestEventListener
        let observesChunks: Bool
        let observesProgress: Bool
        let observesMessagePayloads: Bool

        init(_ listener: any RequestEventListener) {
            self.listener = listener
            observesChunks = listener.observesChunks
            observesProgress = listener.observesProgress
            observesMessagePayloads = listener.observesMessagePayloads
        }
    }

    private let members: [Member]
    /// Whether a listener observes the parts of bodies.
    package let observesChunks: Bool
    /// Whether a listener observes the progress of requests.
    package let observesProgress: Bool
    /// Whether a listener observes the payloads of messages.
    package let observesMessagePayloads: Bool

    package init(_ listeners: [any RequestEventListener]) {
        members = listeners.map(Member.init)
        observesChunks = members.contains(where: \.observesChunks)
        observesProgress = members.contains(where: \.observesProgress)
        observesMessagePayloads = members.contains(where: \.observesMessagePayloads)
    }

    /// Calls the listeners in order; for parts of bodies and progress, those that observe them.
    package func receive(_ event: RequestEvent) {
        let (isChunk, isProgress) = (event.kind.isChunk, event.kind.isProgress)
        if observesMessagePayloads, event.kind.isMessage {
            for member in members {
                member.listener.handle(
                    member.observesMessagePayloads ? event : event.withoutPayload)
            }
            return
        }
        for member in members
        where (!isChunk || member.observesChunks) && (!isProgress || member.observesProgress) {
            member.listener.handle(event)
        }
    }
}
