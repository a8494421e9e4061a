/// An endpoint with a typed output.
///
///     final class Nick: Request<String> {
///         override var url: String { "/nick" }
///         override var decoder: ResponseDecoder<String> { ResponseDecoder { $0.json["nick"].string ?? "" } }
///     }
///     let nick = try await Nick().value()
nonisolated open class Request<Output: Sendable>: BaseRequest {
    /// Makes the output from a validated response, off the main actor.
    ///
    /// The default fails with ``RequestError/Code/undecodable``, because it must be overridden: `.string`,
    /// `.json(User.self)`, `.propertyList(…)`, `.xml { … }`, `.firstOf([…])`, or a closure.
    open var decoder: ResponseDecoder<Output> { .missing(in: String(describing: type(of: self))) }

    /// The output of the last run; `nil` before it, and after a failure.
    public internal(set) var output: Output?

    /// Creates a request.
    public override init() { super.init() }

    /// Runs the request and returns its output, on the caller's actor.
    ///
    /// Cancelling the calling Swift task cancels the request.
    ///
    /// - Throws: ``RequestError``.
    @discardableResult
    nonisolated(nonsending) public func value() async throws(RequestError) -> Output {
        let response = try await send()
        guard let output else {
            throw RequestError(
                .undecodable, stage: .decode,
                "The request has no output of type \(Output.self). Use one object for one run at a time; "
                    + "start it again only after its end.",
                response: response)
        }
        return output
    }

    package override func makeDescription() -> RequestDescription {
        var it = super.makeDescription()
        let decoder = decoder
        it.decode = { (response, json) throws(RequestError) in
            try decoder.decode(response, with: json)
        }
        return it
    }

    package override func take(_ outcome: TaskOutcome) {
        super.take(outcome)
        output = outcome.output as? Output
    }
}
