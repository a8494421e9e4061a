/// The short form of a ``TypedRequest`` for endpoints without a base class of their own.
///
///     final class Nick: Request<String> {
///         override var url: EndpointURL { "/nick" }
///         override var decoder: ResponseDecoder<String> { ResponseDecoder { $0.json["nick"].string ?? "" } }
///     }
///     let nick = try await Nick().value()
nonisolated open class Request<Output: Sendable>: BaseRequest, TypedRequest {
    /// Makes the output from a validated response, off the main actor.
    ///
    /// It must be overridden: `.string`, `.json(User.self)`, `.propertyList(…)`, `.xml { … }`, `.firstOf([…])`, or a
    /// closure. Errors: ``RequestError/Code/invalidConfiguration`` without an override, before anything is sent.
    open var decoder: ResponseDecoder<Output> { .missing }

    /// Creates a request.
    public override init() { super.init() }
}
