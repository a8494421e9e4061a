package import Foundation

/// What stays the same from start to end of one task.
package final class TaskContext: Sendable {
    package let id: UUID
    package let description: RequestDescription
    package let configuration: Configuration
    package let transport: any Transport
    package let store: (any ResponseStore)?
    package let clock: any RequestClock

    package init(
        id: UUID, description: RequestDescription, configuration: Configuration,
        transport: any Transport, store: (any ResponseStore)?, clock: any RequestClock
    ) {
        self.id = id
        self.description = description
        self.configuration = configuration
        self.transport = transport
        self.store = store
        self.clock = clock
    }

    /// Tells the listeners; costs nothing when there are none.
    package func emit(_ kind: @autoclosure () -> RequestEvent.Kind) {
        guard !configuration.eventListeners.isEmpty else { return }
        let event = RequestEvent(
            taskID: id, endpoint: description.endpoint, tag: description.tag, uptime: clock.uptime,
            kind: kind())
        for listener in configuration.eventListeners { listener.handle(event) }
    }
}
