#if ServiceLifecycle
    public import ErrandDownloadQueue
    public import ServiceLifecycle

    /// A download queue as a service of a `ServiceGroup`.
    ///
    ///     let group = ServiceGroup(
    ///         services: [RequestAgentService(agent), DownloadQueueService(queue)],
    ///         gracefulShutdownSignals: [.sigterm], logger: logger)
    ///     try await group.run()
    ///
    /// It requires the package trait `ServiceLifecycle`. Its agent comes before it in the list, because a group shuts its
    /// services down in the reverse order.
    public struct DownloadQueueService: Service {
        private let queue: DownloadQueue

        /// Creates the service of a queue; the service opens and closes it.
        public init(_ queue: DownloadQueue) { self.queue = queue }

        /// Opens the queue, waits for the graceful shutdown, and closes the queue.
        ///
        /// Downloads in progress are cancelled at once, without a limit, because they keep their part files: the next run
        /// continues them. The same happens if the task is cancelled.
        ///
        /// - Throws: ``RequestError/Code/storeFailed`` if the database cannot be read; `CancellationError` if the task was
        ///   cancelled before the graceful shutdown.
        public func run() async throws {
            try await queue.open()
            try await runUntilShutdown { await queue.close() }
        }
    }
#else
    /// A download queue as a service of a `ServiceGroup`; requires the package trait `ServiceLifecycle`.
    @available(
        *, unavailable,
        message:
            "Enable the package trait ServiceLifecycle in Package.swift: .package(url: \"…/errand.git\", …, traits: [.defaults, \"ServiceLifecycle\"])"
    )
    public struct DownloadQueueService {}
#endif
