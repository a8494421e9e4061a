public import HTTPTypes

/// `Bearer` tokens (RFC 6750), renewed when the server refuses one.
public struct BearerAuthenticator: Authenticator {
    private let token: @Sendable () async throws -> String?
    private let renew: (@Sendable () async throws -> Void)?

    /// Makes an authenticator over a store of tokens of the user's own.
    ///
    /// - Parameters:
    ///   - token: The token to send now; `nil` sends none. Called for every attempt: answer from memory.
    ///   - refresh: Renews what `token` returns. Called once for all requests that are refused at the same time; may
    ///     itself send requests. Default `nil`: a 401 is the answer.
    public init(
        token: @escaping @Sendable () async throws -> String?,
        refresh: (@Sendable () async throws -> Void)? = nil
    ) {
        self.token = token
        renew = refresh
    }

    /// Makes an authenticator with a token that never changes.
    public init(_ token: String) { self.init(token: { token }) }

    /// Puts the token on a request.
    public func apply(to request: inout TransportRequest) async throws {
        guard let token = try await token() else { return }
        guard !token.isEmpty, token.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
            throw Credentials.unusable(
                "The bearer token is empty, or holds spaces or characters beyond ASCII.")
        }
        request.headers[.authorization] = "Bearer \(token)"
    }

    /// Calls the closure.
    public func refresh(
        after response: Response, to request: TransportRequest
    ) async throws -> Bool {
        guard let renew else { return false }
        try await renew()
        return true
    }
}

/// User and password in every request (RFC 7617), in UTF-8.
///
/// Readable by whoever sees the request: use https.
public struct BasicAuthenticator: Authenticator {
    private let user: String
    private let password: String

    /// Makes an authenticator.
    ///
    /// A user name with a colon fails every request.
    public init(user: String, password: String) {
        self.user = user
        self.password = password
    }

    /// Puts user and password on a request.
    public func apply(to request: inout TransportRequest) async throws {
        guard !user.utf8.contains(UInt8(ascii: ":")) else {
            throw Credentials.unusable(
                "A user name with a colon cannot be sent by Basic (RFC 7617).")
        }
        guard !Credentials.holdControls(user, password) else {
            throw Credentials.unusable(
                "User or password holds a control character, such as the line break at the end of a file; Basic cannot send it (RFC 7617)."
            )
        }
        request.headers[.authorization] = Credentials.basic(user: user, password: password)
    }
}

/// A fixed key in a header or in the query.
public struct APIKeyAuthenticator: Authenticator {
    private let key: String
    private let placement: Placement

    /// Where the key goes.
    public enum Placement: Sendable, Hashable {
        /// Into a header; a request that has the header already keeps its own.
        case header(HTTPField.Name)
        /// Into the query under this name; the key shows in servers' logs.
        case query(String)
    }

    /// Makes an authenticator.
    public init(_ key: String, in placement: Placement) {
        self.key = key
        self.placement = placement
    }

    /// Puts the key on a request.
    public func apply(to request: inout TransportRequest) async throws {
        switch placement {
        case .header(let name):
            guard HTTPField.isValidValue(key) else {
                throw Credentials.unusable("The key holds characters that no header may hold.")
            }
            if !request.headers.contains(name) { request.headers[name] = key }
        case .query(let name):
            request.url.appendQuery("\(Credentials.escaped(name))=\(Credentials.escaped(key))")
        }
    }
}
