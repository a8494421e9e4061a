public import ErrandJSON

/// An endpoint whose answer is JSON of a `Decodable` type.
///
///     final class GetUser: JSONRequest<User> {
///         let id: Int
///         init(id: Int) { self.id = id }
///         override var url: String { "/iphone/users" }
///         override var arguments: Arguments? { ["id": id] }
///     }
///     let user = try await GetUser(id: 7).value()
///
/// An answer without a body is an ``EmptyBody``, or `nil` for an optional output; other outputs fail with
/// ``RequestError/Code/undecodable``.
nonisolated open class JSONRequest<Output: Decodable & Sendable>: Request<Output> {
    /// Makes a request.
    public override init() { super.init() }

    /// Decodes the body with ``jsonDecoder``.
    ///
    /// Validation has parsed it already; it is not parsed again.
    open override var decoder: ResponseDecoder<Output> {
        .json(decoder: jsonDecoder, at: outputPath)
    }

    /// Key, date and data strategies; override it for your own.
    ///
    /// Default `nil`: `Configuration.jsonDecoder`, which has `JSONDecoder`'s defaults.
    open var jsonDecoder: FastJSONDecoder? { nil }

    /// The keys that lead to the output, for services that wrap it: `["data"]` for `{"code": 0, "data": {…}}`.
    ///
    /// Default none: the output is the whole body.
    open var outputPath: [String] { [] }
}
