public import ErrandHTTP

/// A custom step between validation and delivery, for example for business errors, decryption or model
/// conversion.
///
/// It runs off the main actor, also for cached responses. The returned response replaces the original one.
/// A thrown error fails the request with ``RequestError/Code/processingFailed``; a thrown `RequestError` is
/// kept unchanged.
public protocol ResponseProcessor: Sendable {
    /// Returns the response, changed or unchanged.
    ///
    /// - Parameters:
    ///   - response: The validated response.
    ///   - attempt: The number of the attempt, from 1; 0 for a response from the cache.
    func process(_ response: Response, attempt: Int) async throws -> Response
}

/// A response processor that calls a closure.
public struct ClosureProcessor: ResponseProcessor {
    private let body: @Sendable (Response, Int) async throws -> Response

    /// Creates a processor; the closure receives the response and the attempt number (0 from the cache).
    public init(_ body: @escaping @Sendable (Response, Int) async throws -> Response) {
        self.body = body
    }

    /// Calls the closure.
    public func process(_ response: Response, attempt: Int) async throws -> Response {
        try await body(response, attempt)
    }
}
