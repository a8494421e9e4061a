import ErrandSystem
import HTTPTypes
import Synchronization

/// `Digest` authentication (RFC 7616, also servers of RFC 2069), with the challenges of each origin.
package final class DigestScheme: Authenticator {
    private let user: String
    private let password: String
    private let makeClientNonce: @Sendable () -> String
    /// The least recently used origins are removed; their servers send the challenge again.
    private let sessions = Mutex(LRUTable<String, DigestSession>(limit: 1024))

    convenience init(user: String, password: String) {
        self.init(user: user, password: password) {
            var generator = SystemRandomNumberGenerator()
            return (0..<2).map { _ in String(generator.next(), radix: 16) }.joined()
        }
    }

    package init(
        user: String, password: String, makeClientNonce: @escaping @Sendable () -> String
    ) {
        self.user = user
        self.password = password
        self.makeClientNonce = makeClientNonce
    }

    /// The URL's origin, because each server has its own challenge.
    package func scope(of url: HTTPURL) -> String { url.origin }

    /// A digest of user and password, which differs in each process.
    package func cacheIdentity(for url: HTTPURL) async throws -> String? {
        Credentials.identity(user: user, password: password)
    }

    /// Adds credentials for the server's challenge if it is known.
    package func apply(to request: inout TransportRequest) async throws {
        let used = sessions.withLock { $0.change(request.url.origin) { $0.use() } }
        guard let used else { return }
        var body: Data?
        switch request.body?.storage {
        case nil: body = Data()
        case .data(let data): body = data
        default: break
        }
        var target = request.url.path.isEmpty ? "/" : request.url.path
        if let query = request.url.query { target += "?" + query }
        let digest = DigestResponse(
            challenge: used.challenge, user: user, password: password,
            method: request.method.rawValue, target: target, body: body,
            clientNonce: used.clientNonce, count: used.count)
        guard let header = digest.header() else {
            throw Credentials.unusable(
                "The server requires Digest with auth-int, which needs a body in memory, or a value "
                    + "contains control characters."
            )
        }
        request.headers[.authorization] = header
    }

    /// Stores the challenge of a 401.
    ///
    /// Returns false if the server refused user and password themselves: they are not tried again.
    package func refresh(
        after response: Response, to request: TransportRequest
    ) async throws -> Bool {
        let challenges = AuthenticationChallenge.parse(response.headers[values: .wwwAuthenticate])
        let challenge = DigestChallenge.first(in: challenges)
        let clientNonce = makeClientNonce()
        let wasDigest =
            request.headers[.authorization].map { $0.starts(withBytes: "Digest ") } ?? false
        return sessions.withLock { sessions in
            let origin = request.url.origin
            guard let challenge else {
                sessions.remove(origin)
                return false
            }
            // A nonce that worked before has expired, even if the server does not send `stale`.
            let hasAged = challenge.isStale || sessions.value(for: origin)?.wasAccepted == true
            guard !wasDigest || hasAged else {
                sessions.remove(origin)
                return false
            }
            sessions.insert(
                DigestSession(challenge: challenge, clientNonce: clientNonce), for: origin, cost: 1)
            return true
        }
    }

    /// Stores a `nextnonce` (RFC 7616 §3.5), and marks the current nonce as accepted.
    package func observe(_ response: Response, to request: TransportRequest) {
        guard request.headers[.authorization]?.starts(withBytes: "Digest ") == true else { return }
        let next = response.headers[values: Self.information]
            .flatMap(AuthenticationChallenge.parameters(of:))
            .first { $0.name == "nextnonce" }?.value
        sessions.withLock { sessions in
            _ = sessions.change(request.url.origin) { $0.accepted(nextNonce: next) }
        }
    }

    private static let information = HTTPField.Name.authenticationInfo
}

/// A challenge and the state of its use; a pure value.
struct DigestSession: Sendable, Equatable {
    private(set) var challenge: DigestChallenge
    let clientNonce: String
    private(set) var count: UInt32 = 0
    private(set) var wasAccepted = false

    init(challenge: DigestChallenge, clientNonce: String) {
        self.challenge = challenge
        self.clientNonce = clientNonce
    }

    /// Counts one more use.
    ///
    /// The client nonce stays the same, because the key of a `-sess` challenge depends on it.
    mutating func use() -> DigestSession {
        count &+= 1
        return self
    }

    mutating func accepted(nextNonce: String?) {
        wasAccepted = true
        guard let nextNonce, nextNonce != challenge.nonce else { return }
        challenge.nonce = nextNonce
        count = 0
    }
}
