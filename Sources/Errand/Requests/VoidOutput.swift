/// An endpoint whose response has no body that matters: 204, 205, HEAD.
///
///     final class DeletePost: HubRequest, VoidOutput {
///         override var url: EndpointURL { "posts/7" }
///         override var method: HTTPMethod { .delete }
///     }
///     try await DeletePost().value()
///
/// A body that the server sends all the same is ignored. It can be a member of typed batches and graphs. For a body that
/// may be missing, make the output optional: that of `JSONRequest<User?>` is `nil` for an empty body.
nonisolated public protocol VoidOutput: TypedRequest where Output == Void {}

extension VoidOutput {
    /// Ignores the body.
    nonisolated public var decoder: ResponseDecoder<Void> { .empty }
}
