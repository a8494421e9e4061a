public import ErrandCore

extension ChainRequest {
    /// The step with which a chain has failed, and the results before it.
    nonisolated public struct FailedStep: Sendable {
        /// The number of the step; the first is 1.
        public let number: Int
        /// The name of the step, if it has one.
        public let name: String?
        /// The type name of the member, such as `GetUser`; `nil` if the step failed before it had one.
        public let endpoint: String?
        /// The responses of the requests that succeeded before it, in order.
        public let responses: [Response]
    }
}

extension RequestError {
    /// The error of a chain that ended with it at the step; the message names the step, unless the chain was
    /// cancelled.
    nonisolated func naming(_ step: ChainRequest.FailedStep) -> RequestError {
        var error = following(step.responses)
        guard !isCancellation else { return error }
        let name = [step.endpoint, step.name.map { "named \"\($0)\"" }].compactMap { $0 }
        error.message +=
            " The chain failed at its step \(step.number)"
            + (name.isEmpty ? "." : " (\(name.joined(separator: ", "))).")
        return error
    }

    /// The error of a chain after these responses, which come before those of a chain within it.
    nonisolated func following(_ responses: [Response]) -> RequestError {
        guard !responses.isEmpty else { return self }
        var error = self
        error.precedingResponses = responses + precedingResponses
        return error
    }
}
