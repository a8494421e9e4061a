import ErrandCore

extension RequestError {
    /// The error of a run with a request that is a member of a run in progress.
    nonisolated static func occursTwice(_ request: BaseRequest, in kind: String) -> RequestError {
        RequestError(
            .invalidCombination, stage: .build,
            "This \(type(of: request)) is a member of the \(kind) twice, or of another run in progress. Create a "
                + "request object for each place.")
    }

    /// The error of a failed replacement of a chain's step, which the chain wants to replace again.
    nonisolated var ofReplacement: RequestError {
        var error = self
        error.message += " It is the error of a replacement; a step of a chain is replaced once."
        return error
    }
}
