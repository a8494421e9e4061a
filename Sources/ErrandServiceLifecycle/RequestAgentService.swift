#if ServiceLifecycle
    public import ErrandCore
    public import ServiceLifecycle

    /// An agent as a service of a `ServiceGroup`.
    ///
    ///     let group = ServiceGroup(
    ///         services: [RequestAgentService(agent), server],
    ///         gracefulShutdownSignals: [.sigterm], logger: logger)
    ///     try await group.run()
    ///
    /// It requires the package trait `ServiceLifecycle`. A group shuts its services down in the reverse order of the
    /// list, so the agent comes before the services that send requests.
    public struct RequestAgentService: Service {
        private let agent: RequestAgent
        private let limit: Duration

        /// Creates the service of an agent.
        ///
        /// - Parameters:
        ///   - agent: The agent, which can be used before the service runs.
        ///   - shutdownLimit: The time in which current requests may end after a graceful shutdown began, on the agent's
        ///     clock. Default 30 s.
        public init(_ agent: RequestAgent, shutdownLimit: Duration = .seconds(30)) {
            self.agent = agent
            limit = shutdownLimit
        }

        /// Waits for the graceful shutdown, then shuts the agent down.
        ///
        /// From then on the agent refuses requests with ``RequestError/Code/agentShutDown``. Current requests may end
        /// within the limit; those that remain, also suspended ones, end with the same error. Pending cache writes are
        /// finished, and the transport is closed. If the task is cancelled, requests end at once.
        ///
        /// - Throws: `CancellationError` if the task was cancelled before the graceful shutdown.
        public func run() async throws {
            try await runUntilShutdown {
                await agent.shutdown(within: limit)
            } stopAtOnce: {
                await agent.shutdown(draining: false)
            }
        }
    }

    extension RequestAgent {
        /// Shuts the agent down; current requests may end within a time.
        fileprivate func shutdown(within limit: Duration) async {
            let timer = Task { [clock] in
                // A cancelled sleep: all requests have ended before the limit.
                guard (try? await clock.sleep(for: limit)) != nil else { return }
                await self.shutdown(draining: false)
            }
            await shutdown(draining: limit > .zero)
            timer.cancel()
        }
    }
#else
    /// An agent as a service of a `ServiceGroup`; requires the package trait `ServiceLifecycle`.
    @available(
        *, unavailable,
        message:
            "Enable the package trait ServiceLifecycle in Package.swift: .package(url: \"…/errand.git\", …, traits: [.defaults, \"ServiceLifecycle\"])"
    )
    public struct RequestAgentService {}
#endif
