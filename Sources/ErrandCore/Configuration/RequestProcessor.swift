import ErrandTransport

/// Changes the final request, for example to sign or encrypt the body.
///
/// It runs before each attempt, after serialization, compression and interceptors, for single
/// requests and for members of batches, chains and graphs; `HTTPBody.bytes()` reads the body. The cache key
/// is that of the request before it. A URL with an invalid component fails the request with
/// ``RequestError/Code/invalidURL``; if the URL has another origin afterwards, credentials of the
/// original request are removed. Implement one of the two methods.
public protocol RequestProcessor: Sendable {
    /// Changes the request; an error fails it.
    func process(_ request: inout TransportRequest, of description: RequestDescription) async throws

    /// Changes the request for an attempt, counted from 1; an error fails it.
    ///
    /// Default: calls ``process(_:of:)``.
    func process(
        _ request: inout TransportRequest, of description: RequestDescription, attempt: Int
    ) async throws
}

extension RequestProcessor {
    /// Changes nothing.
    public func process(
        _ request: inout TransportRequest, of description: RequestDescription
    ) async throws {}

    /// Calls ``process(_:of:)`` for every attempt.
    public func process(
        _ request: inout TransportRequest, of description: RequestDescription, attempt: Int
    ) async throws {
        try await process(&request, of: description)
    }
}

/// A request processor that calls a closure.
///
///     configuration.requestProcessors = [
///         ClosureRequestProcessor { request, _, attempt in
///             request.headers[.ifMatch] = "\(attempt)"
///         }
///     ]
public struct ClosureRequestProcessor: RequestProcessor {
    private let body:
        @Sendable (inout TransportRequest, RequestDescription, Int) async throws -> Void

    /// Creates a processor; the closure gets the request, its description, and the attempt, from 1.
    public init(
        _ body:
            @escaping @Sendable (inout TransportRequest, RequestDescription, Int) async throws
            -> Void
    ) {
        self.body = body
    }

    /// Calls the closure.
    public func process(
        _ request: inout TransportRequest, of description: RequestDescription, attempt: Int
    ) async throws {
        try await body(&request, description, attempt)
    }
}

/// Changes errors before they are delivered.
///
/// Set in `Configuration.errorProcessors`. Not called for cancelled requests, nor for failed
/// attempts that are retried: `retryDecider` receives those.
public protocol ErrorProcessor: Sendable {
    /// Returns the error to deliver.
    ///
    /// - Parameter attempt: The number of attempts; 0 if nothing was sent.
    func process(_ error: RequestError, attempt: Int) async -> RequestError
}

/// An error processor that calls a closure.
///
///     configuration.errorProcessors = [ClosureErrorProcessor { error, _ in error }]
public struct ClosureErrorProcessor: ErrorProcessor {
    private let body: @Sendable (RequestError, Int) async -> RequestError

    /// Creates a processor; the closure gets the error and the number of attempts.
    public init(_ body: @escaping @Sendable (RequestError, Int) async -> RequestError) {
        self.body = body
    }

    /// Calls the closure.
    public func process(_ error: RequestError, attempt: Int) async -> RequestError {
        await body(error, attempt)
    }
}
