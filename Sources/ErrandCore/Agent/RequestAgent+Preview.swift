extension RequestAgent {
    /// The request that an endpoint would send, without sending it (row URL-10).
    ///
    /// Filters, providers, compression and the user's processors (as for attempt 1) have run, and the jar's cookies are
    /// in it. What is made only when a request is on its way is not: the credentials of `Configuration.authenticators`,
    /// an idempotency key, a download's `Range`. With ``TransportRequest/curlCommand(redactsSecrets:)`` it can be tried
    /// by hand.
    ///
    /// - Throws: What starting the request would fail with before anything is sent.
    public func transportRequest(
        for description: RequestDescription
    ) async throws(RequestError) -> TransportRequest {
        let context = TaskContext(
            id: TaskID.next(), description: description, configuration: configuration,
            transport: transport, store: nil, clock: SystemClock())
        let result = await withTaskCancellationHandler {
            await preview(Exchange(context: context))
        } onCancel: {
            context.scope.cancel()
        }
        return try result.get()
    }

    private func preview(_ exchange: Exchange) async -> Result<TransportRequest, RequestError> {
        do throws(RequestError) {
            let configuration = try exchange.context.sharedConfiguration.inEnvironment()
            let adapted = try await AdaptStep.prepared(exchange, configuration)
            var request = adapted.request
            if adapted.context.description.usesCookies, configuration.value.usesCookies {
                CookieStep.add(cookieJar.cookies(for: request.url), to: &request.headers)
            }
            return .success(request)
        } catch {
            return .failure(error)
        }
    }
}
