public import HTTPTypes

/// `Bearer` tokens (RFC 6750), refreshed when the server refuses one.
public struct BearerAuthenticator: Authenticator {
    private let token: @Sendable () async throws -> String?
    private let renew: (@Sendable () async throws -> Void)?
    private let user: (@Sendable () async throws -> String?)?

    /// Creates an authenticator that reads tokens from the user's token store.
    ///
    /// - Parameters:
    ///   - token: The token to send; `nil` sends none. Called for every attempt, so it should read
    ///     from memory.
    ///   - refresh: Refreshes the token that `token` returns. Called once for all requests that are
    ///     refused at the same time; may itself send requests. Default `nil`: a 401 is delivered.
    ///   - cacheIdentity: The user of the token, for stored responses and shared transfers. Default
    ///     `nil`: a digest of the token, so stored responses are not used after a refresh.
    public init(
        token: @escaping @Sendable () async throws -> String?,
        refresh: (@Sendable () async throws -> Void)? = nil,
        cacheIdentity: (@Sendable () async throws -> String?)? = nil
    ) {
        self.token = token
        renew = refresh
        user = cacheIdentity
    }

    /// Creates an authenticator with a constant token.
    public init(_ token: String) { self.init(token: { token }) }

    /// Adds the token to a request.
    public func apply(to request: inout TransportRequest) async throws {
        guard let token = try await token() else { return }
        guard !token.isEmpty, token.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
            throw Credentials.unusable(
                "The bearer token is empty, or contains spaces or non-ASCII characters.")
        }
        request.headers[.authorization] = "Bearer \(token)"
    }

    /// Calls the refresh closure.
    public func refresh(
        after response: Response, to request: TransportRequest
    ) async throws -> Bool {
        guard let renew else { return false }
        try await renew()
        return true
    }

    /// The result of the closure; `nil`, the digest of the token, without one.
    public func cacheIdentity(for url: HTTPURL) async throws -> String? { try await user?() }
}

/// `Basic` credentials (RFC 7617) in every request, in UTF-8.
///
/// Use https: without TLS, user and password can be read on the network.
public struct BasicAuthenticator: Authenticator {
    private let user: String
    private let password: String

    /// Creates an authenticator; a user name with a colon fails every request.
    public init(user: String, password: String) {
        self.user = user
        self.password = password
    }

    /// Adds user and password to a request.
    public func apply(to request: inout TransportRequest) async throws {
        guard !user.utf8.contains(UInt8(ascii: ":")) else {
            throw Credentials.unusable(
                "Basic authentication cannot send a user name with a colon (RFC 7617).")
        }
        guard !Credentials.containControlCharacters(user, password) else {
            throw Credentials.unusable(
                "User or password contains a control character, such as the line break at the end of a file, "
                    + "which Basic authentication cannot send (RFC 7617)."
            )
        }
        request.headers[.authorization] = Credentials.basic(user: user, password: password)
    }

    /// A digest of user and password, which differs in each process.
    public func cacheIdentity(for url: HTTPURL) async throws -> String? {
        Credentials.identity(user: user, password: password)
    }
}

/// A constant key in a header or in the query.
public struct APIKeyAuthenticator: Authenticator {
    private let key: String
    private let placement: Placement

    /// The position of the key.
    public enum Placement: Sendable, Hashable {
        /// A header; a request that already has it keeps its own value.
        case header(HTTPField.Name)
        /// A query parameter of this name; servers often log it.
        case query(String)
    }

    /// Creates an authenticator.
    public init(_ key: String, in placement: Placement) {
        self.key = key
        self.placement = placement
    }

    /// Adds the key to a request.
    public func apply(to request: inout TransportRequest) async throws {
        switch placement {
        case .header(let name):
            guard HTTPField.isValidValue(key) else {
                throw Credentials.unusable(
                    "The API key contains characters that are invalid in a header.")
            }
            if !request.headers.contains(name) { request.headers[name] = key }
        case .query(let name):
            request.url.appendQuery("\(Credentials.escaped(name))=\(Credentials.escaped(key))")
        }
    }
}

extension BearerAuthenticator: CustomStringConvertible, CustomReflectable {
    /// The type's name, without the token.
    public var description: String { "BearerAuthenticator" }
    /// No children.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension BasicAuthenticator: CustomStringConvertible, CustomReflectable {
    /// The type's name, without user and password.
    public var description: String { "BasicAuthenticator" }
    /// No children.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension APIKeyAuthenticator: CustomStringConvertible, CustomReflectable {
    /// The type's name, without the key.
    public var description: String { "APIKeyAuthenticator" }
    /// No children.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
