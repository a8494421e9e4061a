/// The listeners of a configuration; what they observe is read once.
package struct ListenerList: Sendable {
    /// A class, because a call of its listener copies no existential.
    private final class Member: Sendable {
        let listener: any RequestEventListener
        let observesChunks: Bool

        init(_ listener: any RequestEventListener) {
            self.listener = listener
            observesChunks = listener.observesChunks
        }
    }

    private let members: [Member]
    /// Whether a listener observes the parts of bodies.
    package let observesChunks: Bool

    package init(_ listeners: [any RequestEventListener]) {
        members = listeners.map(Member.init)
        observesChunks = members.contains(where: \.observesChunks)
    }

    /// Calls the listeners in order; for parts of bodies, those that observe them.
    package func receive(_ event: RequestEvent) {
        let isChunk = event.kind.isChunk
        for member in members where !isChunk || member.observesChunks {
            member.listener.handle(event)
        }
    }
}
