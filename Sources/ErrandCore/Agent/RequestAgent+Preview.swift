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
        let configuration = try context.sharedConfiguration.inEnvironment()
        let exchange = try await RequestAdapter.adapt(Exchange(context: context), configuration)
        var request = try await RequestProcessing.process(
            exchange.request, attempt: 1, of: exchange)
        if description.usesCookies, configuration.value.usesCookies {
            CookieStep.add(cookieJar.cookies(for: request.url), to: &request.headers)
        }
        return request
    }
}
