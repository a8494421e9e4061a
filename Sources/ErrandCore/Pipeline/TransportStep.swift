import Foundation

/// The last step: hands the request to the transport and waits for the one end.
package struct TransportStep: Step {
    nonisolated(nonsending) package func run(
        _ exchange: Exchange, next: Next
    ) async throws(RequestError) -> Response {
        if exchange.context.pause.isPaused { try await passGate(exchange) }
        let collector = try begin(exchange)
        let entry = exchange.scope.enter { collector.cancel() }
        // Unsafe only in that nobody counts the resumes: `didEnd` is told once by contract, and the collector
        // holds a transport to it.
        await withUnsafeContinuation { collector.run(exchange.request, resuming: $0) }
        exchange.scope.leave(entry)
        return try response(from: collector, exchange)
    }

    /// Waits while the task is suspended, and holds no place meanwhile: others go on.
    @inline(never)
    private func passGate(_ exchange: Exchange) async throws(RequestError) {
        let pause = exchange.context.pause
        while pause.isPaused {
            try await exchange.pausing(true) { () throws(RequestError) in
                await pause.pass(exchange.scope)
            }
            try exchange.scope.check()
        }
    }

    // Apart from `run`, which is suspended while the transfer lasts and keeps room for whatever it names.
    @inline(never)
    private func begin(_ exchange: Exchange) throws(RequestError) -> ResponseCollector {
        let context = exchange.context
        try exchange.scope.check()
        try context.transport.check(exchange.request)
        if let body = exchange.request.body {
            let total = body.lengthToSend
            context.progress.update { ($0.bytesSent, $0.totalBytesToSend) = (0, total) }
        }
        context.emit(
            .transferStarted(attempt: exchange.attempt, url: exchange.request.url.redacted))
        return ResponseCollector(
            context: context, sink: exchange.sink, attempt: exchange.attempt,
            limit: exchange.request.options.maximumBytesInMemory)
    }

    @inline(never)
    private func response(
        from collector: ResponseCollector, _ exchange: Exchange
    ) throws(RequestError) -> Response {
        let answer = collector.takeAnswer()
        if exchange.context.isHeard { tell(answer, exchange) }
        return try answer.response(to: exchange.request.url, attempt: exchange.attempt)
    }

    /// Tells what came of a transfer, with the times that only the transport knows.
    private func tell(_ answer: CollectedAnswer, _ exchange: Exchange) {
        let timings = answer.end.timings
        defer {
            exchange.context.emit(
                .transferEnded(attempt: exchange.attempt, timings, answer.failure))
        }
        for (phase, time) in [
            (RequestEvent.Phase.nameLookedUp, timings.nameLookedUp),
            (.connected, timings.connected), (.secured, timings.secured),
            (.firstByte, timings.firstByte),
        ] {
            if let time {
                exchange.context.emit(.phase(attempt: exchange.attempt, phase, after: time))
            }
        }
        let progress = exchange.context.progress.current
        let attempt = exchange.attempt
        if exchange.request.body != nil, answer.head != nil {
            exchange.context.emit(.requestBodySent(attempt: attempt, bytes: progress.bytesSent))
        }
        if answer.head != nil, answer.end.error == nil {
            exchange.context.emit(.bodyReceived(attempt: attempt, bytes: progress.bytesReceived))
        }
    }
}

/// What a transfer brought.
struct CollectedAnswer: Sendable {
    var head: ResponseHead?
    var body: Result<Response.Body, RequestError>
    var end: TransferEnd

    /// Why the transfer brought no answer, or not all of it.
    var failure: RequestError? {
        guard case .failure(let failure) = body else { return end.error }
        return end.error.map { $0.isCancellation ? failure : $0 } ?? failure
    }

    func response(to url: URI, attempt: Int) throws(RequestError) -> Response {
        let error = failure
        let content = (try? body.get()) ?? Response.Body.data(Data())
        guard let head else {
            var error =
                error
                ?? RequestError(
                    .badServerResponse, stage: .transport,
                    "The transport ended without an answer and without an error.")
            error.timings = end.timings
            throw error
        }
        let response = Response(
            status: head.status, headers: head.headers, body: content, url: url,
            attempts: max(1, attempt), timings: [end.timings], httpVersion: head.httpVersion,
            remoteAddress: head.remoteAddress, trailers: end.trailers)
        if var error {
            error.response = response
            error.timings = end.timings
            throw error
        }
        return response
    }
}
