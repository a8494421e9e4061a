public import ErrandJSON

/// Makes a value of the body of an answer that failed, for ``RequestError/body`` (row RSP-6).
///
///     override var errorDecoder: ErrorDecoder? { .json(Problem.self) }
///     …
///     if let problem = error.body(as: Problem.self) { show(problem.title) }
public struct ErrorDecoder: Sendable {
    private let decode: @Sendable (Response) throws -> (any Sendable)?

    /// Makes a decoder of a closure.
    ///
    /// It runs off the main actor, for failures with an answer that has a body. What it throws, or `nil`, leaves
    /// ``RequestError/body`` empty: the first failure stays the one that is told.
    public init(_ decode: @escaping @Sendable (Response) throws -> (any Sendable)?) {
        self.decode = decode
    }

    /// Decodes JSON, such as `application/problem+json`.
    public static func json<Body: Decodable & Sendable>(
        _ type: Body.Type, decoder: FastJSONDecoder = FastJSONDecoder()
    ) -> Self {
        ErrorDecoder { try decoder.decode(type, from: $0.parsedJSON()) }
    }

    func body(of response: Response?) -> (any Sendable)? {
        guard let response, case .data(let data) = response.body, !data.isEmpty else { return nil }
        return try? decode(response)
    }
}
