import Foundation

/// The last step: hands the request to the transport and waits for the one end.
package struct TransportStep: Step {
    package func run(_ exchange: Exchange, next: Next) async throws(RequestError) -> Response {
        let context = exchange.context
        await context.pause.pass(exchange.scope)
        try exchange.scope.check()
        try context.transport.check(exchange.request)
        if let total = exchange.request.body?.knownLength {
            context.progress.update { $0.totalBytesToSend = total }
        }
        let collector = ResponseCollector(
            context: context, sink: exchange.sink, attempt: exchange.attempt,
            limit: exchange.request.options.maximumBytesInMemory)
        let answer = await exchange.scope.wait {
            await collector.run(exchange.request)
        } onCancel: {
            collector.cancel()
        }
        if !context.configuration.eventListeners.isEmpty { tell(answer, exchange) }
        return try answer.response(to: exchange.request.url, attempt: exchange.attempt)
    }
}

extension TransportStep {
    private func tell(_ answer: CollectedAnswer, _ exchange: Exchange) {
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

    func response(to url: URI, attempt: Int) throws(RequestError) -> Response {
        var error = end.error
        var content = Response.Body.data(Data())
        switch body {
        case .success(let body): content = body
        case .failure(let failure):
            error = error.map { $0.isCancellation ? failure : $0 } ?? failure
        }
        guard let head else {
            throw error
                ?? RequestError(
                    .badServerResponse, stage: .transport,
                    "The transport ended without an answer and without an error.")
        }
        let response = Response(
            status: head.status, headers: head.headers, body: content, url: url,
            attempts: max(1, attempt), timings: [end.timings], httpVersion: head.httpVersion,
            remoteAddress: head.remoteAddress, trailers: end.trailers)
        if var error {
            error.response = response
            throw error
        }
        return response
    }
}
