import ErrandTesting
import ErrandTransport
import Foundation

@testable import ErrandCore

extension RequestTask {
    /// Makes a task for an endpoint named `Test`.
    static func forTest(
        description: RequestDescription = RequestDescription(endpoint: "Test", url: ""),
        configuration: Configuration = Configuration(),
        transport: any Transport = ScriptedTransport(), store: (any ResponseStore)? = nil,
        clock: any RequestClock = ManualClock()
    ) -> RequestTask {
        RequestTask(
            id: UUID(), description: description,
            configuration: SharedConfiguration(configuration),
            services: TaskServices(
                transport: transport, store: store, clock: clock, cookieJar: nil))
    }
}
