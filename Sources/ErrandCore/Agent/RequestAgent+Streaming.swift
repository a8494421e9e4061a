import ErrandSystem
import ErrandTransport

/// A streamed request whose response head has been validated.
package struct OpenedStream: Sendable {
    /// The head, without a reference to the body.
    package let response: Response
    /// The body; releasing it cancels the task.
    package let body: StreamedBody
}

extension RequestAgent {
    /// Runs the task of a streamed request to the head of its response, in the caller's Swift task.
    ///
    /// The task ends with its body. Cancelling the Swift task, until the head, cancels the task.
    @concurrent
    package func open(_ task: RequestTask) async throws(RequestError) -> OpenedStream {
        let opened = await withTaskCancellationHandler {
            await self.opened(task)
        } onCancel: {
            task.cancel()
        }
        return try opened.get()
    }

    private func opened(_ task: RequestTask) async -> Result<OpenedStream, RequestError> {
        guard Self.begin(task) else { return Self.refused(await task.outcome()) }
        let response: Response
        do throws(RequestError) {
            try task.checkNotStopping()
            response = try await pipeline(task).response
        } catch {
            await end(task, .failure(Self.withoutStream(error)))
            return Self.refused(task.finalOutcome)
        }
        guard let body = response.stream as? StreamedBody else {
            // A stored response, or one that a hook made.
            await end(task, .success(Processed(response.withoutStream())))
            if task.finalOutcome.error != nil { return Self.refused(task.finalOutcome) }
            let body = StreamedBody(response.channelOfCompleteBody)
            var head = response
            head.body = .data(Data())
            return .success(
                OpenedStream(response: head.streamed(body).withoutStream(), body: body))
        }
        let head = response.withoutStream()
        attach(body.channel, to: task, head)
        if task.description.upgrade != nil { task.liftTimeLimit() }
        if task.isStopping {
            body.channel.leave()
            return Self.refused(await task.outcome())
        }
        return .success(OpenedStream(response: head, body: body))
    }

    /// The error without the body of a response that a step has refused after its head, which it would keep open.
    private static func withoutStream(_ error: RequestError) -> RequestError {
        guard let channel = error.response?.channel else { return error }
        channel.leave()
        var error = error
        error.response = error.response?.withoutStream()
        return error
    }

    private static func refused(_ outcome: TaskOutcome) -> Result<OpenedStream, RequestError> {
        .failure(outcome.error ?? .cancelled)
    }

    /// From now on the task is cancelled with its body, and ends with it.
    ///
    /// The other direction, that the body is cancelled with the task, is the work of `TransportStep`.
    private func attach(_ channel: BodyChannel, to task: RequestTask, _ head: Response) {
        channel.setTask { task.cancel() }
        channel.whenOver { end in
            Task { await self.end(task, of: channel, head, end) }
        }
    }

    /// Ends a task after the transfer of its body, and then the body.
    private func end(
        _ task: RequestTask, of channel: BodyChannel, _ head: Response, _ end: TransferEnd
    ) async {
        if end.error == nil { await channel.complete() }
        await self.end(task, end.result(of: head, channel.received).map { Processed($0) })
        var error = task.finalOutcome.error
        error?.bytesReceived = channel.received
        channel.close(error)
    }
}
