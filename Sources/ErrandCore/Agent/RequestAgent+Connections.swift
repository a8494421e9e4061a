import ErrandTransport

extension RequestAgent {
    /// Observes the connections of the transport for the listeners; `nil` if it does not report them.
    ///
    /// The agent observes them from its first configuration with a listener on.
    func observeConnections() -> ConnectionReports.Observation? {
        guard let transport = transport as? any ConnectionReporting else { return nil }
        return transport.connectionReports.observe { [weak self] event in
            guard let self else { return }
            var event = event
            event.uptime = clock.uptime
            for listener in configuration.eventListeners { listener.handleConnection(event) }
        }
    }
}
