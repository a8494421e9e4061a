/// A configuration in reference-counted storage, with the facts that every request needs.
///
/// Each change of an agent's configuration creates a new object, so the facts are not computed for each request.
package final class SharedConfiguration: Sendable {
    package let value: Configuration
    /// The first number in the settings that has no meaning, as a sentence; `nil` if there is none.
    let fault: String?
    /// Whether all limits of ``Configuration/timeouts`` are greater than zero.
    let hasValidTimeouts: Bool
    /// Whether ``Configuration/complete(_:)`` can change a description.
    let completesDescriptions: Bool
    /// The listeners that observe each transfer.
    let instruments: [any RequestInstrument]
    /// The listeners that keep what each request does.
    let capturingListeners: [any CapturingListener]
    /// Whether a listener receives the events of all requests.
    let hasListeners: Bool
    /// ``Configuration/eventListeners``; read for each event.
    let listeners: ListenerList

    package init(_ value: Configuration) {
        self.value = value
        fault = value.fault()
        let limits = [value.timeouts.connect, value.timeouts.idle, value.timeouts.total]
        hasValidTimeouts = limits.allSatisfy { $0.map { $0 > .zero } ?? true }
        completesDescriptions = value.completesDescriptions
        instruments = value.eventListeners.compactMap { $0 as? any RequestInstrument }
        capturingListeners = value.eventListeners.compactMap { $0 as? any CapturingListener }
        hasListeners = value.eventListeners.contains { !($0 is any CapturingListener) }
        listeners = ListenerList(value.eventListeners)
    }

    /// The configuration with the selected environment applied; itself if none is selected.
    package func inEnvironment() throws(RequestError) -> SharedConfiguration {
        value.environment == nil ? self : SharedConfiguration(try value.inEnvironment())
    }
}

extension Configuration {
    /// The first number that has no meaning in the settings of a request, whose own replace those of the configuration.
    func fault(of own: RequestDescription? = nil, _ options: TransportOptions? = nil) -> String? {
        (own?.sending.redirects ?? redirectPolicy).fault ?? (own?.retryPolicy ?? retryPolicy).fault
            ?? (options ?? transportOptions).fault ?? retryBudget?.fault ?? circuitBreaker?.fault
            ?? limits.fault ?? httpCache.fault
    }
}
