/// The short form of a ``DecodableOutput`` for endpoints without a base class of their own.
///
///     final class GetUser: JSONRequest<User> {
///         let id: Int
///         init(id: Int) { self.id = id }
///         override var url: EndpointURL { "/iphone/users" }
///         override var arguments: Arguments? { ["id": id] }
///     }
///     let user = try await GetUser(id: 7).value()
nonisolated open class JSONRequest<Output: Decodable & Sendable>: BaseRequest, DecodableOutput {
    /// Creates a request.
    public override init() { super.init() }

    /// Decodes the JSON, with ``RequestDescription/json``.
    open var decoder: ResponseDecoder<Output> { .json() }
}
