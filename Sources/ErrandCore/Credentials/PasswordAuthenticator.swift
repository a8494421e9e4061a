import HTTPTypes
import Synchronization

/// User and password, shown in whichever way a server asks for: `Digest` (RFC 7616) where it offers that, else `Basic`
/// (RFC 7617).
///
/// Nothing is shown before a server has asked: its first answer is a 401, and the request is sent again. What it asked for is
/// kept for its origin, and later requests carry the credentials at once. ``BasicAuthenticator`` shows them from the
/// first request on, ``DigestAuthenticator`` never takes less than Digest.
public final class PasswordAuthenticator: Authenticator, CustomStringConvertible, CustomReflectable
{
    private let basic: BasicAuthenticator
    private let digest: DigestAuthenticator
    private let basicOverHTTP: Bool
    /// The origins that asked for Basic; those that were not asked for the longest are forgotten.
    private let askedForBasic = Mutex(LRUTable<String, Bool>(limit: 1024))

    /// Makes an authenticator.
    ///
    /// - Parameters:
    ///   - user: The user's name; one with a colon cannot be shown by Basic.
    ///   - password: The password.
    ///   - basicOverHTTP: Whether Basic is answered without TLS, where whoever is on the way reads the password, and may ask
    ///     for it in the server's place. Default false: the 401 is the answer.
    public init(user: String, password: String, basicOverHTTP: Bool = false) {
        basic = BasicAuthenticator(user: user, password: password)
        digest = DigestAuthenticator(user: user, password: password)
        self.basicOverHTTP = basicOverHTTP
    }

    /// Its name: neither user nor password.
    public var description: String { "PasswordAuthenticator" }
    /// Nothing.
    public var customMirror: Mirror { Mirror(self, children: [:]) }

    /// The address's origin: servers ask for different things.
    public func scope(of url: URI) -> String { url.origin }

    /// Puts on what the server is known to ask for; leaves a request to an unknown one as it is.
    public func apply(to request: inout TransportRequest) async throws {
        let origin = request.url.origin
        if askedForBasic.withLock({ $0.value(for: origin) }) == true {
            try await basic.apply(to: &request)
        } else {
            try await digest.apply(to: &request)
        }
    }

    /// Learns what a 401 asks for.
    ///
    /// Credentials that were refused as such are not tried again.
    public func refresh(
        after response: Response, to request: TransportRequest
    ) async throws -> Bool {
        let origin = request.url.origin
        let challenges = AuthenticationChallenge.parse(response.headers[values: .wwwAuthenticate])
        if DigestChallenge.first(in: challenges) != nil {
            askedForBasic.withLock { _ = $0.remove(origin) }
            return try await digest.refresh(after: response, to: request)
        }
        let mayShow = basicOverHTTP || request.url.scheme == "https"
        let wasShown = request.headers[.authorization]?.hasPrefix("Basic ") == true
        guard mayShow, !wasShown, challenges.contains(where: { $0.isOf("Basic") }) else {
            askedForBasic.withLock { _ = $0.remove(origin) }
            return false
        }
        askedForBasic.withLock { _ = $0.insert(true, for: origin, cost: 1) }
        return true
    }

    /// Takes what a server renews by the way.
    public func observe(_ response: Response, to request: TransportRequest) {
        digest.observe(response, to: request)
    }
}
