public import ErrandHTTP
public import ErrandJSON

/// A decoder for the bodies of error responses, which sets ``RequestError/body``.
///
/// For example, with `application/problem+json` (RFC 9457):
///
///     override var errorDecoder: ErrorDecoder? { .json(Problem.self) }
///     …
///     if let problem = error.body(as: Problem.self) { show(problem.title) }
public struct ErrorDecoder: Sendable {
    private let decode: @Sendable (Response) throws -> (any Sendable)?

    /// Creates a decoder from a closure.
    ///
    /// The closure runs off the main actor for every failure whose response has a body. If it throws or returns
    /// `nil`, ``RequestError/body`` stays `nil` and the original error is unchanged.
    public init(_ decode: @escaping @Sendable (Response) throws -> (any Sendable)?) {
        self.decode = decode
    }

    /// A decoder for JSON, such as `application/problem+json`.
    ///
    /// - Parameters:
    ///   - type: The type of the body.
    ///   - decoder: Key, date and data strategies. Default `nil`: those of the endpoint's `json`,
    ///     otherwise of `Configuration.json`.
    public static func json<Body: Decodable & Sendable>(
        _ type: Body.Type, decoder: JSONReader? = nil
    ) -> Self {
        ErrorDecoder { try $0.decode(type, decoder: decoder) }
    }

    package func body(of response: Response?) -> (any Sendable)? {
        guard let response, case .data(let data) = response.body, !data.isEmpty else { return nil }
        return try? decode(response)
    }
}
