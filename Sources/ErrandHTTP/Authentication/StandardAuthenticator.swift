public import HTTPTypes

/// Basic, Bearer, Digest, a password for either, or an API key.
///
/// The functions of ``Authenticator`` create it:
///
///     configuration.authenticators = [
///         "api.example.com": .bearer { await session.token } refresh: { try await session.renew() },
///         "*.intranet.example.com": .digest(user: "a", password: "b"),
///     ]
///
/// Neither `print` nor `dump` shows the credentials.
public final class StandardAuthenticator: Authenticator {
    private let scheme: any Authenticator

    fileprivate init(_ scheme: any Authenticator) { self.scheme = scheme }

    /// The position of an API key.
    public enum KeyPlacement: Sendable, Hashable {
        /// A header; a request that already has it keeps its own value.
        case header(HTTPField.Name)
        /// A query parameter of this name; servers often log it.
        case query(String)
    }

    /// The limit of one refresh.
    public var refreshTimeout: Duration? { scheme.refreshTimeout }

    /// Adds the credentials to a request.
    public func apply(to request: inout TransportRequest) async throws {
        try await scheme.apply(to: &request)
    }

    /// Refreshes a token, or stores the challenge of a 401.
    ///
    /// Returns false if the server refused user and password themselves: they are not tried again.
    public func refresh(
        after response: Response, to request: TransportRequest
    ) async throws -> Bool {
        try await scheme.refresh(after: response, to: request)
    }

    /// Stores a `nextnonce` of Digest (RFC 7616 §3.5).
    public func observe(_ response: Response, to request: TransportRequest) {
        scheme.observe(response, to: request)
    }

    /// The URL's origin for a scheme with challenges, otherwise one scope for all URLs.
    public func scope(of url: HTTPURL) -> String { scheme.scope(of: url) }

    /// The closure's result for a token, `nil` for a key; otherwise a digest of user and password, which differs in
    /// each process.
    public func cacheIdentity(for url: HTTPURL) async throws -> String? {
        try await scheme.cacheIdentity(for: url)
    }
}

extension StandardAuthenticator: CustomStringConvertible, CustomReflectable {
    /// The type's name, without the credentials.
    public var description: String { "StandardAuthenticator" }
    /// No children.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension Authenticator where Self == StandardAuthenticator {
    /// `Basic` credentials (RFC 7617) in every request, in UTF-8.
    ///
    /// Use https: without TLS, user and password can be read on the network. A user name with a colon fails every
    /// request.
    public static func basic(user: String, password: String) -> Self {
        Self(BasicScheme(user: user, password: password))
    }

    /// A constant `Bearer` token (RFC 6750); a 401 is delivered.
    public static func bearer(_ token: String) -> Self { bearer(token: { token }) }

    /// `Bearer` tokens (RFC 6750) of the user's token store, refreshed when the server refuses one.
    ///
    /// - Parameters:
    ///   - refreshTimeout: The limit of one refresh, see ``refreshTimeout`` (default 60 s).
    ///   - token: The token to send; `nil` sends none. Called for every attempt, so it should read
    ///     from memory.
    ///   - refresh: Refreshes the token that `token` returns. Called once for all requests that are
    ///     refused at the same time; may itself send requests. Default `nil`: a 401 is delivered.
    ///   - cacheIdentity: The user of the token, for stored responses and shared transfers. Default
    ///     `nil`: a digest of the token, so stored responses are not used after a refresh.
    public static func bearer(
        refreshTimeout: Duration? = .seconds(60),
        token: @escaping @Sendable () async throws -> String?,
        refresh: (@Sendable () async throws -> Void)? = nil,
        cacheIdentity: (@Sendable () async throws -> String?)? = nil
    ) -> Self {
        Self(
            BearerScheme(
                token: token, refresh: refresh, cacheIdentity: cacheIdentity,
                refreshTimeout: refreshTimeout))
    }

    /// `Digest` authentication (RFC 7616, also servers of RFC 2069), which never sends the password.
    ///
    /// Supports MD5, SHA-256 and SHA-512-256, each with and without `-sess`; `auth`, and `auth-int` for
    /// bodies in memory; `userhash`, `stale` and `nextnonce`. Of several challenges, the first with a SHA-2 algorithm
    /// is used. The first request to a server gets a 401 with the challenge and is sent again; later ones carry
    /// credentials at once. Challenges are kept for each origin.
    public static func digest(user: String, password: String) -> Self {
        Self(DigestScheme(user: user, password: password))
    }

    /// User and password for the scheme that the server requests.
    ///
    /// That is `Digest` (RFC 7616) if the server offers it, otherwise `Basic` (RFC 7617). Nothing is
    /// sent before the server has requested credentials with a 401; then the request is sent again. The
    /// scheme is kept for the origin, and later requests carry credentials at once.
    /// ``basic(user:password:)`` sends them from the first request on; ``digest(user:password:)`` accepts
    /// only Digest.
    ///
    /// - Parameters:
    ///   - user: The user name; Basic cannot send one with a colon.
    ///   - password: The password.
    ///   - basicOverHTTP: Whether to send Basic credentials without TLS, where an attacker on the
    ///     network can read them or impersonate the server. Default false: the 401 is delivered.
    public static func password(
        user: String, password: String, basicOverHTTP: Bool = false
    ) -> Self {
        Self(PasswordScheme(user: user, password: password, basicOverHTTP: basicOverHTTP))
    }

    /// A constant key in a header or in the query.
    public static func apiKey(
        _ key: String, in placement: StandardAuthenticator.KeyPlacement
    ) -> Self {
        Self(APIKeyScheme(key, in: placement))
    }
}
