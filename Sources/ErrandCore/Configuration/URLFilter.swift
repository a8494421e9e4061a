/// Changes a URL on its way (row URL-7).
public protocol URLFilter: Sendable {
    /// Returns the URL to use in place of this one. What it throws fails the request.
    func filter(_ url: String, of request: RequestDescription) async throws -> String
}

/// A filter made of a closure.
public struct ClosureURLFilter: URLFilter {
    private let body: @Sendable (String, RequestDescription) async throws -> String

    /// Makes a filter.
    public init(_ body: @escaping @Sendable (String, RequestDescription) async throws -> String) {
        self.body = body
    }

    /// Calls the closure.
    public func filter(_ url: String, of request: RequestDescription) async throws -> String {
        try await body(url, request)
    }
}
