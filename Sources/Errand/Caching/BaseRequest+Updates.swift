public import ErrandCore
public import ErrandSystem

/// The stored value of a request and then the value of the network.
nonisolated struct Updates<Value: Sendable>: AsyncSequence {
    typealias Element = Value
    typealias Failure = RequestError

    let makeReader: () -> UpdateReader<Value>

    /// Creates the iterator, which starts the request when its first element is read.
    func makeAsyncIterator() -> Iterator { Iterator(reader: makeReader()) }

    /// Reads the values of one run.
    struct Iterator: AsyncIteratorProtocol {
        let reader: UpdateReader<Value>

        mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(RequestError) -> Value? {
            try await reader.next(isolation: actor)
        }
    }
}

/// One run of a request whose values are read one after another; its release ends the run.
nonisolated final class UpdateReader<Value: Sendable> {
    private enum Delivery: Sendable {
        case stored(TaskOutcome)
        case ended(TaskOutcome)
    }

    private let request: BaseRequest
    private let agent: RequestAgent?
    private let value: (TaskOutcome) -> Result<Value, RequestError>
    private var run: RequestRun?
    private var deliveries: AsyncStream<Delivery>?
    private var hasEnded = false

    init(
        _ request: BaseRequest, on agent: RequestAgent?,
        value: @escaping (TaskOutcome) -> Result<Value, RequestError>
    ) {
        self.request = request
        self.agent = agent
        self.value = value
    }

    deinit {
        // The loop was left before the end.
        guard let run, !hasEnded else { return }
        run.task.cancel()
        request.end(TaskOutcome(result: .failure(.cancelled)), of: run) { _ in }
    }

    func next(
        isolation actor: isolated (any Actor)?
    ) async throws(RequestError) -> Value? {
        guard !hasEnded else { return nil }
        let run = run ?? begin()
        var iterator = deliveries?.makeAsyncIterator()
        guard let delivery = await iterator?.next(isolation: actor) else {
            // The Swift task was cancelled.
            run.task.cancel()
            return try end(await run.task.outcome(), of: run)
        }
        switch delivery {
        case .stored(let outcome):
            request.take(outcome)
            return try value(outcome).get()
        case .ended(let outcome): return try end(outcome, of: run)
        }
    }

    private func begin() -> RequestRun {
        var prepared = request.prepare(on: agent)
        let configuration = prepared.agent.configuration
        prepared.description.prepare(by: configuration)
        prepared.description.deliverStored(with: configuration)
        let run = request.start(prepared)
        let (stream, continuation) = AsyncStream.makeStream(of: Delivery.self)
        run.task.whenStored { continuation.yield(.stored($0)) }
        run.task.whenEnded {
            continuation.yield(.ended($0))
            continuation.finish()
        }
        self.run = run
        deliveries = stream
        return run
    }

    private func end(_ outcome: TaskOutcome, of run: RequestRun) throws(RequestError) -> Value? {
        hasEnded = true
        request.end(outcome, of: run) { _ in }
        let value = try value(outcome).get()
        // The stored response was delivered, and the network has none that differs.
        return run.task.repeatsStored ? nil : value
    }
}

extension RequestDescription {
    /// The description of a run that delivers the stored response first.
    nonisolated fileprivate mutating func deliverStored(with configuration: Configuration) {
        switch cache.policy ?? configuration.cachePolicy {
        case .http, .httpThenLoad: cache.policy = .httpThenLoad
        case .cacheOnly: break
        default: cache.policy = .cacheThenLoad
        }
    }
}

extension TypedRequest {
    /// The stored value, if there is one, and then the value of the network, if it differs.
    ///
    ///     for try await user in GetUser(id: 7).updates() { show(user) }
    ///
    /// The stored response may have any age; `cache.maximumStaleness` limits it. It needs
    /// ``BaseRequest/cacheSeconds`` above 0, or ``CachePolicy/http``, which revalidates it and does not use one that
    /// forbids stale use. The two are equal if the server responds with 304, or if their `ETag`, their strong
    /// `Last-Modified` or their bytes are equal. If the network fails after a stored value, the sequence ends without an
    /// error, and ``BaseRequest/response`` has a ``Response/loadError``. ``BaseRequest/response`` is set before each
    /// value: its `source` and `age` identify it. With ``CachePolicy/cacheOnly`` there is only the stored value; every
    /// other policy acts as ``CachePolicy/cacheThenLoad``.
    ///
    /// The request starts when the first value is read. Its hooks, delegate and accessories are notified once, at the end.
    /// Leaving the loop, or cancelling the calling Swift task, cancels the request. Iterate on the actor of the request.
    ///
    /// - Parameter agent: The agent that performs the request. Default `nil`: that of the endpoint.
    nonisolated public func updates(on agent: RequestAgent? = nil) -> some AsyncSequence<
        Output, RequestError
    > {
        Updates {
            UpdateReader(self, on: agent) { $0.output(as: Output.self) }
        }
    }

    /// The output of the stored response, without starting the request; `nil` if there is no usable one.
    ///
    /// Like ``BaseRequest/cachedResponse(on:)``.
    ///
    /// - Throws: As ``BaseRequest/cachedResponse(on:)``; ``RequestError/Code/undecodable``.
    nonisolated(nonsending) public func cachedValue(
        on agent: RequestAgent? = nil
    ) async throws(RequestError) -> Output? {
        let agent = self.agent(atCall: agent)
        guard let outcome = try await agent.cachedOutcome(of: makeDescription()) else { return nil }
        return try outcome.output(as: Output.self).get()
    }
}

extension BaseRequest {
    /// The stored response, if there is one, and then the response of the network, if it differs.
    ///
    /// Like ``TypedRequest/updates(on:)``, for endpoints without an output.
    ///
    /// - Parameter agent: The agent that performs the request. Default `nil`: that of the endpoint.
    nonisolated public func responseUpdates(
        on agent: RequestAgent? = nil
    ) -> some AsyncSequence<Response, RequestError> {
        Updates { UpdateReader(self, on: agent) { $0.result } }
    }

    /// The stored response, without starting the request; `nil` if there is no usable one.
    ///
    /// The lookup of ``CachePolicy/cacheOnly``, or of `only-if-cached` under ``CachePolicy/http``, with the same
    /// identity, validation and processors. Nothing is sent; hooks, delegate and accessories are not called, and
    /// ``BaseRequest/response`` is not set. `cache.maximumStaleness` accepts stale responses.
    ///
    /// - Parameter agent: The agent whose store is read. Default `nil`: that of the endpoint.
    /// - Throws: As ``RequestAgent/cachedResponse(for:)``.
    nonisolated(nonsending) public func cachedResponse(
        on agent: RequestAgent? = nil
    ) async throws(RequestError) -> Response? {
        try await self.agent(atCall: agent).cachedResponse(for: makeDescription())
    }

    /// Stores a response by hand, as if the request had received it now.
    ///
    /// - Parameters:
    ///   - response: The response, with its body in memory.
    ///   - agent: The agent whose store is used. Default `nil`: that of the endpoint.
    /// - Throws: As ``RequestAgent/store(_:for:)-(Response,RequestDescription)``.
    nonisolated(nonsending) public func storeResponse(
        _ response: Response, on agent: RequestAgent? = nil
    ) async throws(RequestError) {
        try await self.agent(atCall: agent).store(response, for: makeDescription())
    }

    /// Stores bytes by hand as a response with status 200.
    ///
    /// - Parameters:
    ///   - data: The body.
    ///   - contentType: The field `Content-Type`. Default `application/json`.
    ///   - agent: The agent whose store is used. Default `nil`: that of the endpoint.
    /// - Throws: As ``RequestAgent/store(_:for:)-(Response,RequestDescription)``.
    nonisolated(nonsending) public func storeResponse(
        _ data: Data, contentType: String = "application/json", on agent: RequestAgent? = nil
    ) async throws(RequestError) {
        try await self.agent(atCall: agent).store(
            data, contentType: contentType, for: makeDescription())
    }

    /// Removes the stored response of the request; does nothing if there is none.
    ///
    /// - Parameter agent: The agent whose store is used. Default `nil`: that of the endpoint.
    /// - Throws: As ``RequestAgent/removeCached(_:)``.
    nonisolated(nonsending) public func removeCached(
        on agent: RequestAgent? = nil
    ) async throws(RequestError) {
        try await self.agent(atCall: agent).removeCached(makeDescription())
    }
}

extension RequestAgent {
    /// The stored response of a request, without starting it; `nil` if there is no usable one.
    ///
    /// Like ``BaseRequest/cachedResponse(on:)``.
    nonisolated(nonsending) public func cachedResponse(
        _ request: BaseRequest
    ) async throws(RequestError) -> Response? {
        try await cachedResponse(for: request.makeDescription())
    }

    /// The key under which the response of a request is stored; `nil` if the request has none.
    ///
    /// Like ``cacheKey(for:)-(RequestDescription)``.
    nonisolated(nonsending) public func cacheKey(
        for request: BaseRequest
    ) async throws(RequestError) -> CacheKey? {
        try await cacheKey(for: request.makeDescription())
    }

    /// Stores a response by hand, as if the request had received it now.
    ///
    /// Like ``BaseRequest/storeResponse(_:on:)``.
    nonisolated(nonsending) public func store(
        _ response: Response, for request: BaseRequest
    ) async throws(RequestError) {
        try await store(response, for: request.makeDescription())
    }
}
