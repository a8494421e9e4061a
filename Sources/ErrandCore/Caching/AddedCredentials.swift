package import ErrandHTTP
import ErrandSystem
package import HTTPTypes
import Synchronization

/// The credentials of one request: its secret header fields, those of an authenticator, cookies of the jar, and those
/// that are not headers.
///
/// They are part of the keys of stored responses that have no cache identity, and of shared transfers. They are
/// determined before the request is sent and may change until then, for example when another user signs in. The steps
/// therefore record what they send, and such a response is not stored.
package final class AddedCredentials: Sendable {
    /// The identity of the credentials that an authenticator adds.
    package enum Identity: Sendable, Hashable {
        case known(String?)
        /// Not determined before the authenticator adds them.
        case unknown
    }

    /// The credentials that the request itself has.
    package struct Own: Sendable, Hashable {
        /// Identifies them; empty if there are none.
        package var text = ""
        /// Whether some are made for this request only, such as signatures: no later request has the same ones, so
        /// that its response is not stored.
        package var haveProof = false

        package init() {}

        /// Adds a header field, if its name is secret.
        package mutating func add(field: HTTPField, _ names: SecretNames) {
            let name = field.name.rawName
            guard names.isSecret(header: name) else { return }
            let value = field.receivedText
            if SecretName.isProof(header: name, value: value) { haveProof = true }
            text += "\n" + name.lowercasedASCII() + ":" + value
        }

        /// Adds an argument of a query or a body, if its name is secret.
        package mutating func add(argument name: String, _ value: String, _ names: SecretNames) {
            guard names.isSecret(argument: name) else { return }
            if SecretName.isProof(argument: name) { haveProof = true }
            text += "\n?" + name + "=" + value
        }
    }

    private struct State {
        var authenticator: String?
        var haveChanged = false
    }

    private let url: HTTPURL
    private let cookies: [String]
    private let authenticator: Identity
    private let own: Own
    private let state: Mutex<State>

    /// A digest for keys; `nil` if there are no credentials.
    ///
    /// It stays in memory: ``CacheKey/stored(credentials:digestKey:)`` makes the one that a store gets.
    package let digest: String?

    /// - Parameters:
    ///   - url: The URL of the request.
    ///   - cookies: The cookies of the jar.
    ///   - own: The credentials that the request itself has.
    package init(to url: HTTPURL, cookies: [Cookie], authenticator: Identity, own: Own) {
        self.url = url
        self.cookies = cookies.map(\.pair)
        self.authenticator = authenticator
        self.own = own
        let identity: String? =
            if case .known(let identity) = authenticator { identity } else { nil }
        state = Mutex(State(authenticator: identity, haveChanged: own.haveProof))
        digest = Self.digest(self.cookies, identity, own)
    }

    /// Whether other credentials were sent than those of the digest, or such as no later request has.
    package var haveChanged: Bool { state.withLock { $0.haveChanged } }

    /// The digest for another URL of the same origin, with the credentials that were sent.
    package func digest(cookies: [Cookie]) -> String? {
        Self.digest(cookies.map(\.pair), state.withLock { $0.authenticator }, own)
    }

    /// Records the jar's cookies of a request or of a redirect.
    package func sent(_ cookies: [Cookie], to url: HTTPURL) {
        let isUnchanged = cookies.lazy.map(\.pair).elementsEqual(self.cookies)
        // A redirect may lead to a host or a path without cookies; its response then has no user.
        let isElsewhere = url.origin != self.url.origin || url.path != self.url.path
        guard !isUnchanged, !(cookies.isEmpty && isElsewhere) else { return }
        change()
    }

    /// Records the credentials of a repeated request.
    package func sent(_ own: Own) {
        if own != self.own { change() }
    }

    /// Records that a redirect has other credentials than the request.
    package func change() { state.withLock { $0.haveChanged = true } }

    /// Records the credentials that an authenticator added.
    package func sent(authenticator identity: String?) {
        state.withLock { state in
            state.authenticator = identity
            if case .known(let expected) = authenticator, expected != identity {
                state.haveChanged = true
            }
        }
    }

    private static func digest(_ cookies: [String], _ authenticator: String?, _ own: Own) -> String?
    {
        guard !cookies.isEmpty || authenticator != nil || !own.text.isEmpty else { return nil }
        // The authenticator's identity is any text, so it comes last.
        let text =
            cookies.joined(separator: "; ") + "\n" + own.text + "\n"
            + (authenticator.map { "=" + $0 } ?? "")
        return SHA256.hex(Data(text.utf8))
    }

    /// Identifies what an authenticator added to a request: header fields, a query, or a body;
    /// `nil` if it changed nothing.
    package static func difference(
        of sent: TransportRequest, from original: TransportRequest
    ) -> String? {
        var lines = sent.headers
            .filter { !original.headers[fields: $0.name].contains($0) }
            .map { $0.name.canonicalName + ":" + $0.value }
        if sent.url != original.url {
            let (query, before) = (sent.url.query ?? "", original.url.query ?? "")
            var other = sent.url
            other.query = original.url.query
            let appended = other == original.url ? query.dropping(prefix: before) : nil
            lines.append(appended.map { String($0) } ?? sent.url.string)
        }
        if sent.body != nil || original.body != nil {
            let digests = [sent, original].map { CacheKeyBuilder.digest(of: $0.body) }
            if digests[0] != digests[1] { lines.append("\(digests[0])") }
        }
        guard !lines.isEmpty else { return nil }
        return SHA256.hex(Data(lines.joined(separator: "\n").utf8))
    }
}

extension CacheKey {
    /// The key with the digest of credentials; the same key if there is none.
    package func adding(_ digest: String?) -> CacheKey {
        guard let digest else { return self }
        return CacheKey(canonical: canonical + "\n@" + digest)
    }
}
