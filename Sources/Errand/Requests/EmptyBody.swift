/// The output of an endpoint whose answer has no body: 204, 205, HEAD (row RSP-4).
///
///     final class DeletePost: JSONRequest<EmptyBody> {
///         override var url: String { "/posts/7" }
///         override var method: HTTPMethod { .delete }
///     }
///
/// A body that comes nevertheless is left alone. Where it may be there or not, make the output optional:
/// `JSONRequest<User?>` gives `nil` for an empty body.
nonisolated public struct EmptyBody: Codable, Sendable, Hashable {
    /// Nothing.
    public init() {}

    /// Nothing, whatever is there.
    public init(from decoder: any Decoder) throws {}

    /// An empty object.
    public func encode(to encoder: any Encoder) throws {
        _ = encoder.container(keyedBy: NoKey.self)
    }

    private enum NoKey: CodingKey {}
}

/// What an empty body can be decoded to.
nonisolated protocol EmptyDecodable {
    static var valueOfNothing: Self { get }
}

nonisolated extension EmptyBody: EmptyDecodable {
    static var valueOfNothing: EmptyBody { EmptyBody() }
}

nonisolated extension Optional: EmptyDecodable {
    static var valueOfNothing: Wrapped? { nil }
}
