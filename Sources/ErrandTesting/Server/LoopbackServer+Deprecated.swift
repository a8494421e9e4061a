// Names from before 0.1.0, so that tests of endpoints can be migrated step by step. They are removed in 0.2.0.

/// The earlier name of ``LoopbackResponse``.
@available(*, deprecated, renamed: "LoopbackResponse")
public typealias LoopbackAnswer = LoopbackResponse

extension LoopbackServer {
    /// Sets the responses of a path; the earlier name of ``route(_:responses:)``.
    @available(*, deprecated, renamed: "route(_:responses:)")
    public func route(_ path: String, answers responses: LoopbackResponse...) {
        route(path, inTurn: responses)
    }
}

extension LoopbackResource {
    /// The response to a request; the earlier name of ``response(to:)``.
    @available(*, deprecated, renamed: "response(to:)")
    public func answer(to request: LoopbackRequest) -> LoopbackResponse { response(to: request) }
}
