import ErrandTesting
import ErrandTransport
import Foundation

@testable import ErrandCore

extension TaskContext {
    /// Makes a context for an endpoint named `Test`.
    static func forTest(
        description: RequestDescription = RequestDescription(endpoint: "Test", url: ""),
        configuration: Configuration = Configuration(),
        transport: any Transport = ScriptedTransport(), store: (any ResponseStore)? = nil,
        clock: any RequestClock = ManualClock()
    ) -> TaskContext {
        TaskContext(
            id: UUID(), description: description,
            configuration: SharedConfiguration(configuration),
            services: TaskServices(
                transport: transport, store: store, clock: clock, cookieJar: nil))
    }
}
