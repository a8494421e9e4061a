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
    /// Whether there is a ``Configuration/prepare``.
    fileprivate let prepares: Bool
    /// Whether processors of responses or errors apply to every request.
    let hasProcessors: Bool
    /// Whether null members are removed from the JSON of responses whose request does not say.
    let removesNulls: Bool
    /// Whether providers compute headers or arguments for each request.
    let hasProviders: Bool
    /// Whether a setting concerns steps that a request without settings of its own can otherwise skip.
    let usesOptionalSteps: Bool
    /// The requests that were built from their URL and this configuration alone; `nil` if none can be.
    let builtRequests: BuiltRequests?
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
        prepares = value.prepare != nil
        hasProcessors =
            !value.responseProcessors.isEmpty || !value.errorProcessors.isEmpty
            || value.errorRecovery != nil
        removesNulls = value.json.removesNulls ?? false
        hasProviders = value.headerProvider != nil || value.argumentProvider != nil
        usesOptionalSteps = value.usesOptionalSteps
        let isAlone = !hasProviders && value.hostHeaders.isEmpty && value.environment == nil
        builtRequests = isAlone ? BuiltRequests() : nil
        instruments = value.eventListeners.compactMap { $0 as? any RequestInstrument }
        capturingListeners = value.eventListeners.compactMap { $0 as? any CapturingListener }
        hasListeners = value.eventListeners.contains { !($0 is any CapturingListener) }
        listeners = ListenerList(value.eventListeners)
    }

    /// Whether a request starts without reading the store and without calling user code: its caller may hold a lock that
    /// a listener needs.
    var startsPlainly: Bool {
        value.cachePolicy == .cacheElseLoad && value.eventListeners.isEmpty
            && value.errorDecoder == nil && value.errorRecovery == nil
    }

    /// The configuration with the selected environment applied; itself if none is selected.
    package func inEnvironment() throws(RequestError) -> SharedConfiguration {
        value.environment == nil ? self : SharedConfiguration(try value.inEnvironment())
    }
}

extension RequestDescription {
    /// Applies ``Configuration/prepare``, once; without a copy of the configuration.
    @inline(__always) mutating func prepare(by configuration: SharedConfiguration) {
        if configuration.prepares { prepare(by: configuration.value) }
    }
}

extension RequestDescription {
    /// Whether null members are removed from the JSON of the response; without a copy of the configuration.
    func removesNulls(_ configuration: SharedConfiguration) -> Bool {
        guard hasRareMembers else { return configuration.removesNulls }
        return json.removesNulls ?? configuration.removesNulls
    }
}

extension Configuration {
    /// Whether a setting concerns an ``OptionalStep``, or can change a request into one that such a step concerns.
    fileprivate var usesOptionalSteps: Bool {
        !interceptors.isEmpty || !requestProcessors.isEmpty || cachePolicy != .cacheElseLoad
            || connectivityPolicy != .ignore || !limits.isUnlimited || !servedHosts.isEmpty
            || rateLimit != nil || learnsRateLimits || !hostRateLimits.isEmpty
            || !tagRateLimits.isEmpty || eventListeners.contains { $0 is any RequestInstrument }
    }

    /// The first number that has no meaning in the settings of a request, whose own replace those of the configuration.
    func fault(of own: RequestDescription? = nil, _ options: TransportOptions? = nil) -> String? {
        (own?.sending.redirects ?? redirectPolicy).fault ?? (own?.retryPolicy ?? retryPolicy).fault
            ?? (options ?? transportOptions).fault ?? retryBudget?.fault ?? circuitBreaker?.fault
            ?? limits.fault ?? httpCache.fault
    }
}
