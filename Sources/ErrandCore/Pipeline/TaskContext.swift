package import Foundation
import Synchronization

/// What stays the same from start to end of one task, and the few things that its steps share.
package final class TaskContext: Sendable {
    package let id: UUID
    package let description: RequestDescription
    package let configuration: Configuration
    package let transport: any Transport
    package let store: (any ResponseStore)?
    package let clock: any RequestClock
    /// The jar of the agent, for configurations that name none.
    package let cookieJar: CookieJar?
    package let progress = ProgressHub()
    package let pause = PauseGate()

    private let madeOutput = Mutex<(any Sendable)?>(nil)

    package init(
        id: UUID, description: RequestDescription, configuration: Configuration,
        transport: any Transport, store: (any ResponseStore)?, clock: any RequestClock,
        cookieJar: CookieJar? = nil
    ) {
        self.id = id
        self.description = description
        self.configuration = configuration
        self.transport = transport
        self.store = store
        self.clock = clock
        self.cookieJar = cookieJar
    }

    /// The typed output that `ProcessStep` made.
    package var output: (any Sendable)? { madeOutput.withLock { $0 } }

    package func keep(output: any Sendable) { madeOutput.withLock { $0 = output } }

    /// Tells the listeners; costs nothing when there are none.
    package func emit(_ kind: @autoclosure () -> RequestEvent.Kind) {
        guard !configuration.eventListeners.isEmpty else { return }
        let event = RequestEvent(
            taskID: id, endpoint: description.endpoint, tag: description.tag, uptime: clock.uptime,
            kind: kind())
        for listener in configuration.eventListeners { listener.handle(event) }
    }
}
