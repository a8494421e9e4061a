// Performance annotations: decisions 10 and 17.

import ErrandSystem
import ErrandTransport

/// The last step: starts the transfer and waits for its end.
package final class TransportStep: Step {
    @inline(__always)
    nonisolated(nonsending) package func run(
        _ pipelineRequest: PipelineRequest, next: Next
    ) async throws(RequestError) -> Response {
        guard !pipelineRequest.task.pause.isPaused else {
            return try await transferWhenResumed(pipelineRequest)
        }
        return try await transfer(pipelineRequest)
    }

    @inline(__always)  // decision 10
    nonisolated(nonsending) private func transfer(
        _ pipelineRequest: PipelineRequest
    ) async throws(RequestError) -> Response {
        let collector = try begin(pipelineRequest)
        let entry = pipelineRequest.scope.enter { collector.cancel() }
        // Unsafe, but never resumed twice: the collector ignores every end after the first.
        await withUnsafeContinuation { collector.run(resuming: $0) }
        return try response(from: collector, leaving: entry)
    }

    /// Waits while the task is suspended, without holding a concurrency permit, and starts the transfer.
    @inline(never)
    private func transferWhenResumed(
        _ pipelineRequest: PipelineRequest
    ) async throws(RequestError) -> Response {
        let task = pipelineRequest.task
        while task.pause.isPaused {
            try await pipelineRequest.pausing(true) { () throws(RequestError) in
                await task.untilResumed(pipelineRequest.scope)
            }
            try pipelineRequest.scope.check()
        }
        return try await transfer(pipelineRequest)
    }

    // Outlined to keep `run`'s async frame small (decision 10).
    @inline(never)
    private func begin(_ pipelineRequest: PipelineRequest) throws(RequestError) -> ResponseCollector
    {
        let task = pipelineRequest.task
        if let upgrade = task.description.upgrade, !pipelineRequest.request.options.isUpgrade {
            // Not in the request of the pipeline: each transfer has fields of its own.
            var upgraded = pipelineRequest
            upgraded.request.options.isUpgrade = true
            upgrade.prepare(&upgraded.request)
            return try begin(upgraded)
        }
        try pipelineRequest.scope.check()
        try pipelineRequest.request.checkURL()
        try task.transport.check(pipelineRequest.request)
        if let body = pipelineRequest.request.body {
            body.markSent()
            let total = body.lengthToSend
            task.updateProgress { ($0.bytesSent, $0.totalBytesToSend) = (0, total) }
        }
        pipelineRequest.limit?.begin()
        pipelineRequest.sink?.willSend(to: pipelineRequest.request.url)
        let sent = pipelineRequest.request.withoutBody
        task.keep(sentRequest: sent)
        task.enter(.inFlight(attempt: max(1, pipelineRequest.attempt)))
        task.emit(
            .transferStarted(
                attempt: pipelineRequest.attempt, url: pipelineRequest.request.url.withoutSecrets
            ))
        return ResponseCollector(
            pipelineRequest, sent: sent,
            captured: task.capture?.transferStarted(
                pipelineRequest.request, attempt: max(1, pipelineRequest.attempt)))
    }

    @inline(never)
    private func response(
        from collector: ResponseCollector, leaving entry: CancellationScope.Entry
    ) throws(RequestError) -> Response {
        let pipelineRequest = collector.pipelineRequest
        pipelineRequest.scope.leave(entry)
        pipelineRequest.limit?.end()
        let task = pipelineRequest.task
        if task.description.isStreamed, let stream = collector.takeStream() {
            if let captured = collector.captured {
                stream.channel.whenEnded {
                    task.capture?.transferEnded(captured, stream.head, nil, $0.error, Shared($0))
                }
            }
            // Cancelled, or too late, at the head: not an interruption of the stream.
            guard !pipelineRequest.scope.isCancelled else {
                stream.channel.leave()
                throw .cancelled
            }
            return streamed(stream.head, stream.channel, collector)
        }
        let collected = collector.takeResponse()
        if let captured = collector.captured {
            task.capture?.transferEnded(
                captured, collected.head, try? collected.body.get(), collected.failure,
                Shared(collected.end))
        }
        if task.isObserved { emitEvents(of: collected, pipelineRequest) }
        return try collected.response(
            to: collector.sent, attempt: pipelineRequest.attempt)
    }

    /// The head of a response whose body goes on arriving; cancelled with the request until its end.
    private func streamed(
        _ head: ResponseHead, _ channel: BodyChannel, _ collector: ResponseCollector
    ) -> Response {
        let pipelineRequest = collector.pipelineRequest
        let task = pipelineRequest.task
        let entry = task.scope.enter { [weak channel] in
            // After a time limit, or a shutdown, the reader gets the bytes that have arrived.
            let reason = task.pause.taskState.value.stopReason
            channel?.cancelTransfer(discardsBuffer: reason == nil || reason == .cancelled)
        }
        channel.whenEnded { _ in task.scope.leave(entry) }
        if task.isObserved {
            channel.whenEnded { [self] end in
                let collected = CollectedResponse(
                    head: head, body: .success(.data(Data())), end: end)
                emitEvents(of: collected, pipelineRequest)
            }
        }
        var response = Response(
            status: head.status, headers: head.headers, body: .data(Data()),
            url: pipelineRequest.request.url, attempts: max(1, pipelineRequest.attempt),
            ownTimings: AttemptTimings(), httpVersion: head.httpVersion,
            remoteAddress: head.remoteAddress, trailers: [:],
            requestStorage: collector.sent.storage
        ).streamed(StreamedBody(channel))
        if head.isDecoded { response.markDecoded() }
        return response
    }

    /// Emits the events of a transfer, with the times that only the transport knows.
    private func emitEvents(of collected: CollectedResponse, _ pipelineRequest: PipelineRequest) {
        let timings = collected.end.timings
        let task = pipelineRequest.task
        // A stream ends on a thread of the transport.
        func emit(_ kind: RequestEvent.Kind) {
            task.description.isStreamed ? task.emitAsynchronously(kind) : task.emit(kind)
        }
        defer {
            emit(
                .transferEnded(attempt: pipelineRequest.attempt, timings, collected.failure))
        }
        let attempt = pipelineRequest.attempt
        func emit(_ phase: RequestEvent.Phase, _ time: Duration?) {
            if let time { emit(.phase(attempt: attempt, phase, after: time)) }
        }
        emit(.nameLookedUp, timings.nameLookedUp)
        emit(.connected, timings.connected)
        emit(.secured, timings.secured)
        emit(.firstByte, timings.firstByte)
        let progress = pipelineRequest.task.currentProgress
        if pipelineRequest.request.body != nil, collected.head != nil {
            emit(
                .requestBodySent(attempt: attempt, bytes: progress.bytesSent))
        }
        if collected.head != nil, collected.end.error == nil {
            emit(
                .bodyReceived(attempt: attempt, bytes: progress.bytesReceived))
        }
    }
}

/// The result of a transfer.
struct CollectedResponse: Sendable {
    var head: ResponseHead?
    var body: Result<Response.Body, RequestError>
    var end: TransferEnd
    /// Whether the rest of the body was not received, because the endpoint refuses the response.
    var isCut = false

    /// The error of the transfer, or the failure to receive the body if that cancelled the transfer.
    var failure: RequestError? {
        guard case .failure(let failure) = body else { return end.error }
        return end.error.map { $0.isCancellation ? failure : $0 } ?? failure
    }

    /// - Parameter request: The sent request, without its body.
    consuming func response(
        to request: TransportRequest, attempt: Int
    ) throws(RequestError) -> Response {
        let error = failure
        let content = if case .success(let body) = body { body } else { Response.Body.data(Data()) }
        guard let head else {
            var error =
                error
                ?? RequestError(
                    .badServerResponse, stage: .transport,
                    "The transfer ended with neither a response nor an error. Fix the transport; the "
                        + "contract suite tests this.")
            error.timings = end.timings
            throw error
        }
        var response = Response(
            status: head.status, headers: head.headers, body: content, url: request.url,
            attempts: max(1, attempt), ownTimings: end.timings, httpVersion: head.httpVersion,
            remoteAddress: head.remoteAddress, trailers: end.trailers,
            requestStorage: request.storage)
        if head.isDecoded { response.markDecoded() }
        if isCut { response.markCut() }
        if var error {
            error.response = response
            error.timings = end.timings
            throw error
        }
        return response
    }
}
