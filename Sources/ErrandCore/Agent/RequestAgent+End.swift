import ErrandTransport

extension RequestAgent {
    /// Reports the end of a task to the observers of its state, to progress handlers and to event listeners, and, after
    /// all of these have returned, to the callers that wait for the outcome.
    nonisolated(nonsending) func end(
        _ task: RequestTask, _ result: Result<Response, RequestError>
    ) async {
        if let unreported = endReporting(task, result) { await finishReported(task, unreported) }
    }

    /// Ends and finishes a task; returns its outcome instead of finishing it if not all have received the end.
    @inline(never)  // decision 10
    func endReporting(
        _ task: RequestTask, _ result: Result<Response, RequestError>
    ) -> Shared<TaskOutcome>? {
        let outcome = outcome(of: task, result)
        guard Self.reportEnd(outcome, task.context) else { return Shared(outcome) }
        remove(task)
        task.finish(outcome)
        return nil
    }

    /// Finishes a task when all have received the end; without an outcome, waits until it has ended elsewhere.
    @inline(never)  // decision 10
    func finishReported(_ task: RequestTask, _ outcome: Shared<TaskOutcome>?) async {
        guard let outcome else { return await task.untilEnded() }
        await Self.untilReported(outcome.value, task.context)
        remove(task)
        task.finish(outcome.value)
    }

    /// Reports the end to handlers and listeners; returns false if not all have received it.
    private static func reportEnd(_ outcome: TaskOutcome, _ context: TaskContext) -> Bool {
        context.capture?.requestEnded(outcome.result, context.cacheMiss)
        // Another request that shares the transfer may be calling a progress handler of this task on its thread.
        guard context.progress.finish(isWhole: outcome.error == nil) else { return false }
        context.emitEnd(outcome)
        return !context.isObserved || context.hasDeliveredEvents
    }

    /// Suspends until handlers and listeners have received the end.
    private static func untilReported(_ outcome: TaskOutcome, _ context: TaskContext) async {
        await context.progress.untilDelivered()
        // The event queue delivers only the first end.
        context.emitEnd(outcome)
        await context.untilDelivered()
    }

    /// Starts the total time limit, which counts from the start of the task.
    func scheduleEnd(of task: RequestTask, after limit: Duration) {
        // A limit of zero or less is refused when the request is built.
        guard limit > .zero else { return }
        task.limitTime(
            ScheduledCall(after: limit, clock) { [weak self, weak task] in
                guard let self, let task else { return }
                task.stop(.deadline)
                // A running task is ended by the pipeline. Listeners do not run on the thread of time limits.
                if task.begin() { ListenerQueue.run { self.endUnstarted(task) } }
            })
    }

    /// Ends a task that exceeded its total limit before it ran, without a thread of the cooperative pool: hooks of other
    /// requests may block them all.
    private func endUnstarted(_ task: RequestTask) {
        task.context.emitStart()
        if let unreported = endReporting(task, .failure(.cancelled)) {
            Task { await finishReported(task, unreported) }
        }
    }

    /// The error of a request that a batch, a chain or a graph did not start, with the message for users.
    ///
    /// - Parameter name: Names the request in the error.
    package func notStarted(
        _ name: (inout RequestError, Configuration) -> Void
    ) -> RequestError {
        let configuration = configuration
        var error = RequestError(
            .cancelled, stage: .cancel,
            "The request was not started, because its batch ended without it.")
        name(&error, configuration)
        error.setUserMessage(of: configuration)
        return error
    }

    package static func limit(of context: TaskContext) -> Duration? {
        if let own = context.description.timeouts { return own.total }
        return context.configuration.timeouts.total
    }

    /// Records the end of the task.
    ///
    /// A reason to stop takes precedence over the result of the pipeline.
    @inline(never)  // decision 10
    private func outcome(
        of task: RequestTask, _ result: Result<Response, RequestError>
    ) -> TaskOutcome {
        let context = task.context
        var result = result
        if let reason = task.end() {
            let limit = Self.limit(of: context)
            result = .failure(Self.error(for: reason, limit: limit, result: result))
            // The network had no time left: the stored response, which was delivered, is the result.
            if reason == .deadline, case .failure(var error) = result,
                let stored = context.storedOutcome, let response = try? stored.result.get()
            {
                error.name(context)
                context.markStoredAsRepeated()
                context.emit(.storedResponseKept(error))
                return TaskOutcome(
                    result: .success(response.used(after: error)), output: stored.output)
            }
        }
        if case .failure(var error) = result {
            error.name(context)
            error.setUserMessage(of: context.configuration)
            result = .failure(error)
        }
        guard case .success = result, context.description.decode != nil else {
            return TaskOutcome(result: result)
        }
        return TaskOutcome(result: result, output: context.output)
    }

    private static func error(
        for reason: TaskState.StopReason, limit: Duration?, result: Result<Response, RequestError>
    ) -> RequestError {
        var attempts = 0
        var underlying: RequestError?
        var stopped: RequestError?
        switch result {
        case .success(let response): attempts = response.attempts
        case .failure(let error):
            stopped = error
            attempts = error.attempts
            // A cancelled request may have been waiting for a retry: the failure before it is the cause to report.
            underlying = error.isCancellation ? error.underlying as? RequestError : error
        }
        var error: RequestError
        switch reason {
        case .cancelled:
            error = .cancelled
        case .shutDown:
            error = RequestError(
                .agentShutDown, stage: .schedule,
                "The agent was shut down. Send the request through another agent.")
        case .deadline:
            error = RequestError(
                .timedOut, stage: .transport,
                "The request took longer than its total limit of \(limit ?? .zero). Increase timeouts.total, or read the events to see what it waited for."
                    + (underlying?.code == .authenticationFailed
                        ? " " + (underlying?.message ?? "") : ""),
                timeout: .total)
        }
        error.attempts = attempts
        error.underlying = underlying
        if let stopped {
            error.takeName(of: stopped)
            error.previousErrors = stopped.previousErrors
            error.bytesReceived = stopped.bytesReceived
        }
        return error
    }
}
