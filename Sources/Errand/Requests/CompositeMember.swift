public import ErrandCore

/// A member of a batch, a chain or a graph: a request, or another composite.
///
/// A run in progress has each object as a member at most once. Other types must not conform: a run
/// that has such a member fails with ``RequestError/Code/invalidCombination``.
nonisolated public protocol CompositeMember: AnyObject {}

extension BaseRequest: CompositeMember {}

extension BaseRequest {
    /// A member with a typed output: a ``TypedRequest``, an ``InlineRequest``, a typed batch or
    /// chain, or a graph.
    nonisolated public protocol TypedMember: CompositeMember {
        /// The type of the output.
        associatedtype Output: Sendable
        /// The output of the last run; `nil` before it, and after a failure.
        var output: Output? { get }
    }
}

extension InlineRequest: BaseRequest.TypedMember {
    /// The response of the last run; `nil` before it, and after a failure.
    public var output: Response? { error == nil ? response : nil }
}
