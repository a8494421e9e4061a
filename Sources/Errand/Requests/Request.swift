/// An endpoint with a typed output.
///
///     final class Nick: Request<String> {
///         override var url: String { "/nick" }
///         override var decoder: ResponseDecoder<String> { ResponseDecoder { $0.json["nick"].string ?? "" } }
///     }
///     let nick = try await Nick().value()
nonisolated open class Request<Output: Sendable>: BaseRequest {
    /// Makes the output of a validated answer: a value that runs off the main actor.
    ///
    /// The default fails with ``RequestError/Code/undecodable`` and says so.
    open var decoder: ResponseDecoder<Output> { .missing(in: String(describing: type(of: self))) }

    /// What the last run brought; `nil` before it and after a failure.
    public internal(set) var output: Output?

    /// Makes a request.
    public override init() { super.init() }

    /// Runs the request and returns its output, on the caller's actor.
    ///
    /// Cancelling the calling Swift task cancels it.
    ///
    /// - Throws: ``RequestError``.
    @discardableResult
    nonisolated(nonsending) public func value() async throws(RequestError) -> Output {
        let response = try await send()
        guard let output else {
            throw RequestError(
                .undecodable, stage: .decode,
                "The run left no output of type \(Output.self). Use one object for one run at a time, and start it again only behind its end.",
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
