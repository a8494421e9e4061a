/// A step of an endpoint's own between validation and delivery: business errors, decryption, model conversion.
///
/// Runs off the main actor, for cached answers too. What it returns replaces the answer; what it throws
/// fails the request with ``RequestError/Code/processingFailed`` (a thrown `RequestError` as it is).
public protocol ResponseProcessor: Sendable {
    /// Looks at an answer and returns it, or another.
    func process(_ response: Response, attempt: Int) async throws -> Response
}

/// A processor made of a closure.
public struct ClosureProcessor: ResponseProcessor {
    private let body: @Sendable (Response, Int) async throws -> Response

    /// Makes a processor; the closure gets the answer and the attempt's number, 0 from the cache.
    public init(_ body: @escaping @Sendable (Response, Int) async throws -> Response) {
        self.body = body
    }

    /// Calls the closure.
    public func process(_ response: Response, attempt: Int) async throws -> Response {
        try await body(response, attempt)
    }
}
