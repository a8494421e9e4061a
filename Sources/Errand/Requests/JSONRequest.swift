import ErrandJSON
public import Foundation

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
    open override var decoder: ResponseDecoder<Output> {
        let decode = jsonDecoder
        return ResponseDecoder { try decode($0.data) }
    }

    /// Turns bytes into the output; override it for key, date or data strategies of your own. Default: no strategies.
    open var jsonDecoder: @Sendable (Data) throws -> Output {
        { try JSONDecoder().decode(Output.self, from: $0) }
    }
}
