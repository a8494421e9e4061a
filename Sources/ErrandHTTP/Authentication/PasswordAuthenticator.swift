import HTTPTypes
import Synchronization

/// User and password for the scheme that the server requests.
///
/// That is `Digest` (RFC 7616) if the server offers it, otherwise `Basic` (RFC 7617). Nothing is
/// sent before the server has requested credentials with a 401; then the request is sent again. The
/// scheme is kept for the origin, and later requests carry credentials at once.
/// ``BasicAuthenticator`` sends them from the first request on; ``DigestAuthenticator`` accepts
/// only Digest.
public final class PasswordAuthenticator: Authenticator, CustomStringConvertible, CustomReflectable
{
    private let basic: BasicAuthenticator
    private let digest: DigestAuthenticator
    private let basicOverHTTP: Bool
    /// The origins that requested Basic; the least recently used ones are removed.
    private let askedForBasic = Mutex(LRUTable<String, Bool>(limit: 1024))

    /// Creates an authenticator.
    ///
    /// - Parameters:
    ///   - user: The user name; Basic cannot send one with a colon.
    ///   - password: The password.
    ///   - basicOverHTTP: Whether to send Basic credentials without TLS, where an attacker on the
    ///     network can read them or impersonate the server. Default false: the 401 is delivered.
    public init(user: String, password: String, basicOverHTTP: Bool = false) {
        basic = BasicAuthenticator(user: user, password: password)
        digest = DigestAuthenticator(user: user, password: password)
        self.basicOverHTTP = basicOverHTTP
    }

    /// The type's name, without user and password.
    public var description: String { "PasswordAuthenticator" }
    /// No children.
    public var customMirror: Mirror { Mirror(self, children: [:]) }

    /// The URL's origin, because servers request different schemes.
    public func scope(of url: HTTPURL) -> String { url.origin }

    /// A digest of user and password, which differs in each process.
    public func cacheIdentity(for url: HTTPURL) async throws -> String? {
        try await digest.cacheIdentity(for: url)
    }

    /// Adds credentials for the scheme that the server is known to request.
    public func apply(to request: inout TransportRequest) async throws {
        let origin = request.url.origin
        if askedForBasic.withLock({ $0.value(for: origin) }) == true {
            try await basic.apply(to: &request)
        } else {
            try await digest.apply(to: &request)
        }
    }

    /// Stores the scheme that a 401 requests.
    ///
    /// Returns false if the server refused user and password themselves: they are not tried again.
    public func refresh(
        after response: Response, to request: TransportRequest
    ) async throws -> Bool {
        let origin = request.url.origin
        let challenges = AuthenticationChallenge.parse(response.headers[values: .wwwAuthenticate])
        if DigestChallenge.first(in: challenges) != nil {
            askedForBasic.withLock { _ = $0.remove(origin) }
            return try await digest.refresh(after: response, to: request)
        }
        let mayShow = basicOverHTTP || request.url.isHTTPS
        let wasShown = request.headers[.authorization]?.starts(withBytes: "Basic ") == true
        guard mayShow, !wasShown, challenges.contains(where: { $0.isOf("Basic") }) else {
            askedForBasic.withLock { _ = $0.remove(origin) }
            return false
        }
        askedForBasic.withLock { _ = $0.insert(true, for: origin, cost: 1) }
        return true
    }

    /// Passes the response to Digest, which stores a `nextnonce`.
    public func observe(_ response: Response, to request: TransportRequest) {
        digest.observe(response, to: request)
    }
}
