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
nonisolated open class JSONRequest<Output: Decodable & Sendable>: Request<Output> {
    /// Makes a request.
    public override init() { super.init() }

    /// Decodes the body with ``jsonDecoder``.
    ///
    /// Validation has parsed it already; it is not parsed again.
    open override var decoder: ResponseDecoder<Output> {
        let decoder = jsonDecoder
        return ResponseDecoder { try decoder.decode(Output.self, from: try $0.parsedJSON()) }
    }

    /// Key, date and data strategies; override it for your own.
    ///
    /// They are `JSONDecoder`'s, with its defaults.
    open var jsonDecoder: FastJSONDecoder { FastJSONDecoder() }
}
