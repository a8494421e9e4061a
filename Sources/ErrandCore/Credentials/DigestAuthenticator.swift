import Foundation
import HTTPTypes
import Synchronization

/// `Digest` (RFC 7616 and servers of RFC 2069): the password never goes over the wire.
///
/// MD5, SHA-256 and SHA-512-256, with and without `-sess`; `auth`, and `auth-int` for bodies in memory; `userhash`, `stale` and
/// `nextnonce`. The first request to a server is refused by it, to learn the challenge, and sent again; later ones
/// carry their answer at once. Challenges are kept for each origin.
public final class DigestAuthenticator: Authenticator {
    private let user: String
    private let password: String
    private let makeClientNonce: @Sendable () -> String
    /// Servers that were not asked for the longest are forgotten; they tell their challenge again.
    private let sessions = Mutex(LRUTable<String, DigestSession>(limit: 1024))

    /// Makes an authenticator.
    public convenience init(user: String, password: String) {
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

    /// The address's origin: servers have challenges of their own.
    public func scope(of url: URI) -> String { url.origin }

    /// Answers the challenge that the server is known for; leaves a request to an unknown one as it is.
    public func apply(to request: inout TransportRequest) async throws {
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
        let answer = DigestAnswer(
            challenge: used.challenge, user: user, password: password,
            method: request.method.rawValue, target: target, body: body,
            clientNonce: used.clientNonce, count: used.count)
        guard let header = answer.header() else {
            throw Credentials.unusable(
                "The server insists on Digest with auth-int, which needs a body in memory, or a value holds control characters."
            )
        }
        request.headers[.authorization] = header
    }

    /// Learns the challenge of a 401.
    ///
    /// Credentials that were refused as such are not tried again.
    public func refresh(
        after response: Response, to request: TransportRequest
    ) async throws -> Bool {
        let challenges = AuthenticationChallenge.parse(response.headers[values: .wwwAuthenticate])
        let challenge = DigestChallenge.first(in: challenges)
        let clientNonce = makeClientNonce()
        let answered = request.headers[.authorization].map { $0.hasPrefix("Digest ") } ?? false
        return sessions.withLock { sessions in
            let origin = request.url.origin
            guard let challenge else {
                sessions.remove(origin)
                return false
            }
            // A nonce that did its service and is refused without `stale` has aged all the same.
            let hasAged = challenge.isStale || sessions.value(for: origin)?.hasServed == true
            guard !answered || hasAged else {
                sessions.remove(origin)
                return false
            }
            sessions.insert(
                DigestSession(challenge: challenge, clientNonce: clientNonce), for: origin, cost: 1)
            return true
        }
    }

    /// Takes a `nextnonce` (RFC 7616 §3.5), and notes that the present one is good.
    public func observe(_ response: Response, to request: TransportRequest) {
        guard request.headers[.authorization]?.hasPrefix("Digest ") == true else { return }
        let next = response.headers[values: Self.information]
            .flatMap(AuthenticationChallenge.parameters(of:))
            .first { $0.name == "nextnonce" }?.value
        sessions.withLock { sessions in
            _ = sessions.change(request.url.origin) { $0.served(nextNonce: next) }
        }
    }

    private static let information = HTTPField.Name.authenticationInfo
}

/// A challenge and what was answered to it so far: a pure value.
struct DigestSession: Sendable, Equatable {
    private(set) var challenge: DigestChallenge
    let clientNonce: String
    private(set) var count: UInt32 = 0
    private(set) var hasServed = false

    init(challenge: DigestChallenge, clientNonce: String) {
        self.challenge = challenge
        self.clientNonce = clientNonce
    }

    /// One more use.
    ///
    /// The client's nonce stays, since the key of a `-sess` challenge hangs on it.
    mutating func use() -> DigestSession {
        count &+= 1
        return self
    }

    mutating func served(nextNonce: String?) {
        hasServed = true
        guard let nextNonce, nextNonce != challenge.nonce else { return }
        challenge.nonce = nextNonce
        count = 0
    }
}
