#if ServiceLifecycle
    public import ErrandOutbox
    public import ServiceLifecycle

    /// An outbox as a service of a `ServiceGroup`.
    ///
    ///     let group = ServiceGroup(
    ///         services: [RequestAgentService(agent), OutboxService(outbox)],
    ///         gracefulShutdownSignals: [.sigterm], logger: logger)
    ///     try await group.run()
    ///
    /// It requires the package trait `ServiceLifecycle`. Its agent comes before it in the list, because a group shuts its
    /// services down in the reverse order.
    public struct OutboxService: Service {
        private let outbox: Outbox
        private let limit: Duration

        /// Creates the service of an outbox.
        ///
        /// - Parameters:
        ///   - outbox: The outbox; the service starts and stops it.
        ///   - shutdownLimit: The time in which requests in progress may end after a graceful shutdown began, on the
        ///     agent's clock. Default 30 s.
        public init(_ outbox: Outbox, shutdownLimit: Duration = .seconds(30)) {
            self.outbox = outbox
            limit = shutdownLimit
        }

        /// Starts the outbox, waits for the graceful shutdown, and stops the outbox.
        ///
        /// From then on no entry is sent. Requests in progress may end within the limit and are cancelled after it; their
        /// entries stay in the store, as do entries that are added later. If the task is cancelled, they are cancelled at
        /// once.
        ///
        /// - Throws: ``RequestError/Code/storeFailed`` if the entries cannot be read; `CancellationError` if the task was
        ///   cancelled before the graceful shutdown.
        public func run() async throws {
            try await outbox.start()
            try await runUntilShutdown {
                await outbox.stop(within: limit)
            } stopAtOnce: {
                await outbox.stop()
            }
        }
    }
#else
    /// An outbox as a service of a `ServiceGroup`; requires the package trait `ServiceLifecycle`.
    @available(
        *, unavailable,
        message:
            "Enable the package trait ServiceLifecycle in Package.swift: .package(url: \"…/errand.git\", …, traits: [.defaults, \"ServiceLifecycle\"])"
    )
    public struct OutboxService {}
#endif
