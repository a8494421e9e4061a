public import ErrandCore

extension BatchRequest {
    /// Runs requests concurrently and returns their outputs, each with its type.
    ///
    ///     let (user, flights) = try await BatchRequest.values(GetUser(id: 7), GetFlights(of: 7))
    ///
    /// - Throws: The error of the first request that failed; the others are cancelled.
    ///   ``RequestError/Code/batchFailed`` if a request succeeded but has no output, because it was
    ///   started elsewhere meanwhile.
    nonisolated(nonsending) public static func values<each Endpoint: TypedRequest>(
        _ requests: repeat each Endpoint
    ) async throws(RequestError) -> (repeat (each Endpoint).Output) {
        try await values(on: nil, repeat each requests)
    }

    nonisolated(nonsending) static func values<each Endpoint: TypedRequest>(
        on agent: RequestAgent?, _ requests: repeat each Endpoint
    ) async throws(RequestError) -> (repeat (each Endpoint).Output) {
        try await Typed(repeat each requests).values(on: agent) { _ in }
    }
}
