#if ServiceLifecycle
    import ServiceLifecycle

    /// Waits for the graceful shutdown and then stops; stops at once if the task is cancelled before.
    ///
    /// - Throws: `CancellationError` if the task was cancelled before the graceful shutdown.
    func runUntilShutdown(
        stopGracefully: () async -> Void, stopAtOnce: () async -> Void
    ) async throws {
        do {
            try await gracefulShutdown()
        } catch {
            await stopAtOnce()
            throw error
        }
        await stopGracefully()
    }

    /// Waits for the graceful shutdown, or the cancellation of the task, and then stops.
    ///
    /// - Throws: `CancellationError` if the task was cancelled before the graceful shutdown.
    func runUntilShutdown(stop: () async -> Void) async throws {
        try await runUntilShutdown(stopGracefully: stop, stopAtOnce: stop)
    }
#endif
