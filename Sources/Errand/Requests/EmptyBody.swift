/// The output of an endpoint whose response has no body: 204, 205, HEAD.
///
///     final class DeletePost: JSONRequest<EmptyBody> {
///         override var url: EndpointURL { "/posts/7" }
///         override var method: HTTPMethod { .delete }
///     }
///
/// A body that the server sends all the same is ignored. For a body that may be missing, make the output optional:
/// the output of `JSONRequest<User?>` is `nil` for an empty body.
nonisolated public struct EmptyBody: Codable, Sendable, Hashable {
    /// Creates the value.
    public init() {}

    /// Creates the value from any content.
    public init(from decoder: any Decoder) throws {}

    /// Encodes an empty object.
    public func encode(to encoder: any Encoder) throws {
        _ = encoder.container(keyedBy: NoKey.self)
    }

    private enum NoKey: CodingKey {}
}

nonisolated extension EmptyBody: EmptyDecodable {
    package static var valueOfNothing: EmptyBody { EmptyBody() }
}
