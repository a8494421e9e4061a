// Names from before 0.1.0, so that tests of endpoints can be migrated step by step. They are removed in 0.2.0.

/// The earlier name of ``ScriptedResponse``.
@available(*, deprecated, renamed: "ScriptedResponse")
public typealias ScriptedAnswer = ScriptedResponse

extension ScriptedTransport {
    /// Responds to requests with a closure; the earlier name of ``respond(_:)``.
    @available(*, deprecated, renamed: "respond(_:)")
    public func answer(_ handler: @escaping Handler) { respond(handler) }
}
