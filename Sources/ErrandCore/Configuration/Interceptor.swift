/// Runs around a request: can change it, send it more than once, or return a response of its own.
///
///     struct Stopwatch: Interceptor {
///         func intercept(
///             _ request: TransportRequest, next: TransportRequest.Next
///         ) async throws -> Response {
///             let start = ContinuousClock.now
///             let response = try await next(request)
///             print(next.description.endpoint, start.duration(to: .now))
///             return response
///         }
///     }
///
/// It is called once per request, after the request was built, and is outside shared transfers,
/// the cache, limits, retries, redirects and authentication. Those of the configuration are outside
/// those of the endpoint, each list in its order. Request processors run after it, so that they
/// sign what it changes.
public protocol Interceptor: Sendable {
    /// Returns the response to a request, usually that of `next`.
    ///
    /// A response that does not come from `next` is not validated and not stored; response
    /// processors and decoding apply to it. A thrown ``RequestError`` is delivered unchanged,
    /// `CancellationError` as ``RequestError/Code/cancelled``, any other error as
    /// ``RequestError/Code/processingFailed``. If the request is cancelled, the calling Swift task
    /// is cancelled; the request ends when this method returns.
    func intercept(
        _ request: TransportRequest, next: TransportRequest.Next
    ) async throws -> Response
}

extension TransportRequest {
    /// Sends the request of an ``Interceptor`` through the steps inside it.
    ///
    /// It can be called several times, one call after the other; each counts its attempts from 1. The
    /// interceptor waits for each call: a call that is in progress when the interceptor returns is
    /// cancelled. A call after that, and a second call at the same time, fail with
    /// ``RequestError/Code/processingFailed``.
    public struct Next: Sendable {
        /// The description of the endpoint.
        public let description: RequestDescription
        /// The run that calls the interceptor; `nil` for a value made with the public initializer.
        package var run: Run?

        /// What interceptors of other modules of the package use of a run.
        package struct Run: Sendable {
            package let clock: any RequestClock
            package let progress: ProgressHub
            package let retryPolicy: RetryPolicy
            package let emit: @Sendable (RequestEvent.Kind) -> Void
        }

        private let send: @Sendable (TransportRequest) async throws(RequestError) -> Response

        /// Creates a value that calls a closure, for example to test an interceptor.
        public init(
            description: RequestDescription,
            send: @escaping @Sendable (TransportRequest) async throws(RequestError) -> Response
        ) {
            self.description = description
            self.send = send
        }

        /// Sends the request, which can be a changed one, and returns its validated response.
        ///
        /// A changed request has its own cache key. If its URL has another origin, credentials of the
        /// original request are removed.
        ///
        /// - Throws: The error of the request; ``RequestError/Code/invalidURL``,
        ///   ``RequestError/Code/invalidMethod`` and ``RequestError/Code/invalidCombination`` if the
        ///   changed request cannot be sent.
        public func callAsFunction(
            _ request: TransportRequest
        ) async throws(RequestError) -> Response {
            try await send(request)
        }
    }
}

extension [any Interceptor] {
    /// Appends an interceptor that calls a closure.
    ///
    ///     configuration.interceptors.append { request, next in
    ///         let response = try await next(request)
    ///         log(next.description.endpoint, response.status)
    ///         return response
    ///     }
    public mutating func append(
        _ intercept:
            @escaping @Sendable (
                _ request: TransportRequest, _ next: TransportRequest.Next
            ) async throws -> Response
    ) {
        append(ClosureInterceptor(body: intercept))
    }
}

private struct ClosureInterceptor: Interceptor {
    let body: @Sendable (TransportRequest, TransportRequest.Next) async throws -> Response

    func intercept(
        _ request: TransportRequest, next: TransportRequest.Next
    ) async throws -> Response {
        try await body(request, next)
    }
}
