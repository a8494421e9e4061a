import ErrandTransport

/// Calls the instruments of the configuration before and after each transfer, and lets the capture intervene.
package final class InstrumentStep: OptionalStep {
    package func concerns(_ pipelineRequest: PipelineRequest) -> Bool {
        let task = pipelineRequest.task
        return !task.sharedConfiguration.instruments.isEmpty
            || task.capture?.intervenes ?? false
    }

    nonisolated(nonsending) package func run(
        _ pipelineRequest: PipelineRequest, next: Next
    ) async throws(RequestError) -> Response {
        var pipelineRequest = pipelineRequest
        let observers = Self.begin(&pipelineRequest)
        do throws(RequestError) {
            let response = try await Self.send(pipelineRequest, next)
            Self.report(response, to: observers)
            return response
        } catch {
            let timings = error.timings ?? error.response?.timings.last ?? AttemptTimings()
            let end = TransferEnd(error: error, timings: timings)
            for observer in observers { observer(error.response, end) }
            throw error
        }
    }

    private static func send(
        _ pipelineRequest: PipelineRequest, _ next: Next
    ) async throws(RequestError) -> Response {
        guard
            let intervention = pipelineRequest.task.capture?.intervention(
                in: pipelineRequest.request, attempt: pipelineRequest.attempt)
        else { return try await next(pipelineRequest) }
        do {
            return try await pipelineRequest.scope.run {
                try await intervention { () throws(RequestError) in
                    try await next(pipelineRequest)
                }
            }
        } catch {
            throw error as? RequestError ?? .cancelled
        }
    }

    private static func begin(_ pipelineRequest: inout PipelineRequest) -> [TransferObserver] {
        let task = pipelineRequest.task
        return task.sharedConfiguration.instruments.compactMap {
            $0.willSend(
                &pipelineRequest.request, attempt: pipelineRequest.attempt,
                of: task.description, task.configuration, over: task.transport)
        }
    }

    /// Reports a response: at once, or at the end of its streamed body.
    private static func report(_ response: Response, to observers: [TransferObserver]) {
        let head = response.withoutStream()
        guard let channel = response.channel else {
            let end = TransferEnd(timings: response.timings.last ?? AttemptTimings())
            for observer in observers { observer(head, end) }
            return
        }
        channel.whenEnded { end in
            for observer in observers { observer(head, end) }
        }
    }
}
