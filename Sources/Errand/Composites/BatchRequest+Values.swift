public import ErrandCore

extension BatchRequest {
    /// Runs requests at once and returns their outputs, each with its type.
    ///
    ///     let (user, flights) = try await BatchRequest.values(GetUser(id: 7), GetFlights(of: 7))
    ///
    /// - Throws: The first failure; the others are cancelled. ``RequestError/Code/batchFailed`` when a member succeeded
    ///   and has no output, because it was started elsewhere meanwhile.
    nonisolated(nonsending) public static func values<each Output: Sendable>(
        _ requests: repeat Request<each Output>
    ) async throws(RequestError) -> (repeat each Output) {
        var members: [BaseRequest] = []
        repeat members.append(each requests)
        try await BatchRequest(members).send()
        return (repeat try output(of: each requests))
    }

    nonisolated private static func output<Output>(
        of request: Request<Output>
    ) throws(RequestError) -> Output {
        guard let output = request.output else {
            throw RequestError(
                .batchFailed, stage: .decode,
                "A member left no output of type \(Output.self). Put each object into a batch once, and run it only there.",
                response: request.response)
        }
        return output
    }
}
