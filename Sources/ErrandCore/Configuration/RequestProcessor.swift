/// Changes the final request: a signature over the bytes of the body, encryption (row RSQ-8).
///
/// It runs behind serialization and compression and sees what goes over the wire, for single requests, members of
/// batches and chains alike, before each attempt; `HTTPBody.bytes()` has the body. Implement one of the two.
public protocol RequestProcessor: Sendable {
    /// Changes the request, or throws what fails it.
    func process(_ request: inout TransportRequest, of description: RequestDescription) async throws

    /// Changes the request for an attempt, counted from 1, or throws what fails it.
    ///
    /// Default: the other one.
    func process(
        _ request: inout TransportRequest, of description: RequestDescription, attempt: Int
    ) async throws
}

extension RequestProcessor {
    /// Changes nothing.
    public func process(
        _ request: inout TransportRequest, of description: RequestDescription
    ) async throws {}

    /// The same for every attempt.
    public func process(
        _ request: inout TransportRequest, of description: RequestDescription, attempt: Int
    ) async throws {
        try await process(&request, of: description)
    }
}

/// A request processor made of a closure.
///
///     configuration.requestProcessors = [
///         ClosureRequestProcessor { request, _, attempt in
///             request.headers[.ifMatch] = "\(attempt)"
///         }
///     ]
public struct ClosureRequestProcessor: RequestProcessor {
    private let body:
        @Sendable (inout TransportRequest, RequestDescription, Int) async throws -> Void

    /// Makes a processor; the closure gets the request, its description and the attempt's number, from 1.
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
