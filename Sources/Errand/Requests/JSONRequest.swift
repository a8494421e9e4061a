public import ErrandJSON

/// An endpoint whose response is JSON of a `Decodable` type.
///
///     final class GetUser: JSONRequest<User> {
///         let id: Int
///         init(id: Int) { self.id = id }
///         override var url: String { "/iphone/users" }
///         override var arguments: Arguments? { ["id": id] }
///     }
///     let user = try await GetUser(id: 7).value()
///
/// A response without a body is decoded as ``EmptyBody``, or as `nil` for an optional output; other outputs fail
/// with ``RequestError/Code/undecodable``.
nonisolated open class JSONRequest<Output: Decodable & Sendable>: Request<Output> {
    /// Creates a request.
    public override init() { super.init() }

    /// Decodes the JSON at ``outputPath`` with ``jsonDecoder``.
    ///
    /// Validation has parsed the JSON already; it is not parsed again.
    open override var decoder: ResponseDecoder<Output> {
        .json(decoder: jsonDecoder, at: outputPath)
    }

    /// Key, date and data strategies.
    ///
    /// Default `nil`: ``Configuration/jsonDecoder``, which has the defaults of `JSONDecoder`.
    open var jsonDecoder: FastJSONDecoder? { nil }

    /// The keys that lead to the output, for services that wrap it: `["data"]` for `{"code": 0, "data": {…}}`.
    ///
    /// Default none: the output is the whole body. Check other members, such as a code, in
    /// ``BaseRequest/businessValidator``.
    open var outputPath: [String] { [] }
}
