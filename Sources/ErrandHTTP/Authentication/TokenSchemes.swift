import HTTPTypes

/// `Bearer` tokens (RFC 6750), refreshed when the server refuses one.
final class BearerScheme: Authenticator {
    let refreshTimeout: Duration?
    private let token: @Sendable () async throws -> String?
    private let renew: (@Sendable () async throws -> Void)?
    private let user: (@Sendable () async throws -> String?)?

    init(
        token: @escaping @Sendable () async throws -> String?,
        refresh: (@Sendable () async throws -> Void)?,
        cacheIdentity: (@Sendable () async throws -> String?)?, refreshTimeout: Duration?
    ) {
        self.token = token
        renew = refresh
        user = cacheIdentity
        self.refreshTimeout = refreshTimeout
    }

    func apply(to request: inout TransportRequest) async throws {
        guard let token = try await token() else { return }
        guard !token.isEmpty, token.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
            throw Credentials.unusable(
                "The bearer token is empty, or contains spaces or non-ASCII characters.")
        }
        request.headers[.authorization] = "Bearer \(token)"
    }

    func refresh(after response: Response, to request: TransportRequest) async throws -> Bool {
        guard let renew else { return false }
        try await renew()
        return true
    }

    func cacheIdentity(for url: HTTPURL) async throws -> String? { try await user?() }
}

/// `Basic` credentials (RFC 7617) in every request.
final class BasicScheme: Authenticator {
    private let user: String
    private let password: String

    init(user: String, password: String) {
        self.user = user
        self.password = password
    }

    func apply(to request: inout TransportRequest) async throws {
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

    func cacheIdentity(for url: HTTPURL) async throws -> String? {
        Credentials.identity(user: user, password: password)
    }
}

/// A constant key in a header or in the query.
final class APIKeyScheme: Authenticator {
    private let key: String
    private let placement: StandardAuthenticator.KeyPlacement

    init(_ key: String, in placement: StandardAuthenticator.KeyPlacement) {
        self.key = key
        self.placement = placement
    }

    func apply(to request: inout TransportRequest) async throws {
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
