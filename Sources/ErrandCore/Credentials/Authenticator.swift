/// Puts credentials on requests, and renews them when the server refuses them with 401.
///
/// The framework brings ``BasicAuthenticator``, ``BearerAuthenticator``, ``DigestAuthenticator``, ``PasswordAuthenticator``
/// and ``APIKeyAuthenticator``. Which hosts an authenticator serves is said by ``HostAuthenticator``:
///
///     configuration.authenticators = [
///         HostAuthenticator("api.example.com", BearerAuthenticator {
///             await session.token
///         } refresh: {
///             try await session.renew()
///         })
///     ]
public protocol Authenticator: Sendable {
    /// Puts the credentials on a request. Called for every attempt, concurrently, off the main actor.
    ///
    /// A request that has an `Authorization` header of its own never comes here. What this throws fails the request
    /// with ``RequestError/Code/authenticationFailed``, beneath which it is underlying; nothing is sent.
    func apply(to request: inout TransportRequest) async throws

    /// Renews the credentials after a 401. Once for all requests that are refused meanwhile: they wait, and each is
    /// sent once more.
    ///
    /// Requests that this starts, on whatever agent, go out without this authenticator. Cancelling requests does not
    /// cancel it. What it throws fails everybody who waits with ``RequestError/Code/authenticationFailed``.
    ///
    /// - Parameters:
    ///   - response: The 401, with its `WWW-Authenticate`.
    ///   - request: What was refused, credentials included.
    /// - Returns: Whether it is worth sending the requests again; else they end with the 401.
    func refresh(after response: Response, to request: TransportRequest) async throws -> Bool

    /// Sees every other answer, for credentials that servers renew by the way. Default: nothing.
    func observe(_ response: Response, to request: TransportRequest)

    /// Within what a renewal counts. Default: the same text for all addresses. An authenticator that keeps
    /// something of its own for each server returns the address's ``URI/origin``.
    func scope(of url: URI) -> String
}

extension Authenticator {
    /// Renews nothing.
    public func refresh(
        after response: Response, to request: TransportRequest
    ) async throws -> Bool { false }
    /// Does nothing.
    public func observe(_ response: Response, to request: TransportRequest) {}
    /// The same for all addresses.
    public func scope(of url: URI) -> String { "" }
}

/// An authenticator and the hosts that may see its credentials.
///
/// Of several that match a host the first serves it.
///
/// Copies, in other configurations too, share the renewals under way.
public struct HostAuthenticator: Sendable {
    /// The hosts.
    public let hosts: HostPattern
    /// Who makes the credentials.
    public let authenticator: any Authenticator
    let gate = RefreshGate()

    /// Says which hosts an authenticator serves.
    public init(_ hosts: HostPattern, _ authenticator: any Authenticator) {
        self.hosts = hosts
        self.authenticator = authenticator
    }
}
