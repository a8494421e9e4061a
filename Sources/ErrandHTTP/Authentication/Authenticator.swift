/// Adds credentials to requests, and refreshes them when the server refuses them with 401.
///
/// Set it for the hosts that may receive the credentials. ``StandardAuthenticator`` is the implementation for
/// `.basic`, `.bearer`, `.digest`, `.password` and `.apiKey`:
///
///     configuration.authenticators = [
///         "api.example.com": .bearer { await session.token } refresh: { try await session.renew() }
///     ]
///
/// An authenticator is an object. All requests that use the same one, with any pattern, configuration or agent,
/// share its refreshes.
public protocol Authenticator: AnyObject, Sendable {
    /// The limit of one refresh; `nil` means no limit.
    ///
    /// Default 60 s. A refresh that takes longer is cancelled, and its result is ignored. The requests that wait for
    /// it fail with ``RequestError/Code/authenticationFailed``; the next 401 starts a new refresh. A limit of zero or
    /// less fails requests with ``RequestError/Code/invalidConfiguration``.
    var refreshTimeout: Duration? { get }

    /// Adds the credentials to a request.
    ///
    /// Called for every attempt, concurrently, off the main actor, except for requests that have an
    /// `Authorization` header of their own. An error fails the request with
    /// ``RequestError/Code/authenticationFailed`` before anything is sent; it is the underlying
    /// error. A change of the URL's scheme, host or port fails it with
    /// ``RequestError/Code/invalidURL``.
    func apply(to request: inout TransportRequest) async throws

    /// Refreshes the credentials after a 401.
    ///
    /// Called once for all requests that are refused meanwhile: they wait for it, and each is sent
    /// once more. Requests that this method starts, on any agent, are sent without this
    /// authenticator. Cancelling requests does not cancel the refresh. An error fails all waiting
    /// requests with ``RequestError/Code/authenticationFailed``.
    ///
    /// - Parameters:
    ///   - response: The 401 response, with its `WWW-Authenticate` field.
    ///   - request: The refused request, including credentials.
    /// - Returns: Whether to send the requests again; otherwise they end with the 401.
    func refresh(after response: Response, to request: TransportRequest) async throws -> Bool

    /// Receives every other response, which may contain renewed credentials; does nothing by default.
    func observe(_ response: Response, to request: TransportRequest)

    /// The scope of a refresh, which applies to all URLs with the same scope.
    ///
    /// Default: one scope for all URLs. An authenticator with state for each server returns
    /// ``HTTPURL/origin``.
    func scope(of url: HTTPURL) -> String

    /// Identifies the user whose credentials are added to requests to a URL, for stored responses
    /// and shared transfers.
    ///
    /// Two users must have different identities. The identity of one user stays the same when the
    /// credentials are refreshed, so stored responses remain usable. Not called for requests with a
    /// cache identity of their own.
    ///
    /// Default `nil`: the identity is a digest of the credentials, for which ``apply(to:)`` is also
    /// called with a copy of the request that is not sent. Refreshed credentials then have entries
    /// of their own. Responses to requests whose credentials differ each time, such as signatures,
    /// are not stored.
    func cacheIdentity(for url: HTTPURL) async throws -> String?
}

extension Authenticator {
    /// 60 s.
    public var refreshTimeout: Duration? { .seconds(60) }
    /// Returns false: there is nothing to refresh.
    public func refresh(
        after response: Response, to request: TransportRequest
    ) async throws -> Bool { false }
    /// Does nothing.
    public func observe(_ response: Response, to request: TransportRequest) {}
    /// One scope for all URLs.
    public func scope(of url: HTTPURL) -> String { "" }
    /// `nil`: a digest of the credentials identifies the user.
    public func cacheIdentity(for url: HTTPURL) async throws -> String? { nil }
}
