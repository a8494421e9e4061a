/// What has a result: a request, a batch, a chain or a graph.
///
/// A protocol, so that closures receive the subclass's own type. Subclass ``BaseRequest`` instead of conforming to it.
nonisolated public protocol Startable: RequestUnit {
    /// What `send()` returns: the response of a request, the results of a batch, the responses of a chain.
    associatedtype Success: Sendable
    /// The result of the last run; `nil` before it.
    var result: Result<Success, RequestError>? { get }
}

/// What has a typed output: an endpoint, a typed batch or chain, or a graph.
nonisolated public protocol TypedUnit: Startable {
    /// The type of the output.
    associatedtype Output: Sendable
    /// The output of the last run; `nil` before it, and after a failure.
    var output: Output? { get }
    /// The output or the error of the last run; `nil` before it.
    var outputResult: Result<Output, RequestError>? { get }
}

extension TypedUnit {
    /// The output or the error of a run that has ended.
    nonisolated var endedOutput: Result<Output, RequestError> {
        outputResult ?? .failure(.missingOutput(Output.self))
    }
}
