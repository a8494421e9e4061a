import HTTPTypes
import Synchronization

/// User and password for the scheme that the server requests, which is kept for the origin.
final class PasswordScheme: Authenticator {
    private let basic: BasicScheme
    private let digest: DigestScheme
    private let basicOverHTTP: Bool
    /// The origins that requested Basic; the least recently used ones are removed.
    private let askedForBasic = Mutex(LRUTable<String, Bool>(limit: 1024))

    init(user: String, password: String, basicOverHTTP: Bool) {
        basic = BasicScheme(user: user, password: password)
        digest = DigestScheme(user: user, password: password)
        self.basicOverHTTP = basicOverHTTP
    }

    /// The URL's origin, because servers request different schemes.
    func scope(of url: HTTPURL) -> String { url.origin }

    /// A digest of user and password, which differs in each process.
    func cacheIdentity(for url: HTTPURL) async throws -> String? {
        try await digest.cacheIdentity(for: url)
    }

    /// Adds credentials for the scheme that the server is known to request.
    func apply(to request: inout TransportRequest) async throws {
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
    func refresh(
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
    func observe(_ response: Response, to request: TransportRequest) {
        digest.observe(response, to: request)
    }
}
