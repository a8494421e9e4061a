package import ErrandHTTP
import Foundation
import Synchronization

/// The credentials that later steps add to one request: cookies of the jar, those of an
/// authenticator, and those that are not headers.
///
/// They are part of the keys of stored responses that have no cache identity. They are determined
/// before the request is sent and may change until then, for example when another user signs in.
/// The steps therefore record what they send, and such a response is not stored.
package final class AddedCredentials: Sendable {
    /// The identity of the credentials that an authenticator adds.
    package enum Identity: Sendable, Hashable {
        case known(String?)
        /// Not determined before the authenticator adds them.
        case unknown
    }

    private struct State {
        var authenticator: String?
        var haveChanged = false
    }

    private let url: URI
    private let cookies: [String]
    private let authenticator: Identity
    private let others: String
    private let state: Mutex<State>

    /// A digest for keys; `nil` if no credentials are added.
    package let digest: String?

    /// - Parameters:
    ///   - url: The URL of the request.
    ///   - cookies: The cookies of the jar.
    ///   - others: A text that identifies further credentials; empty if there are none.
    package init(to url: URI, cookies: [Cookie], authenticator: Identity, others: String) {
        self.url = url
        self.cookies = cookies.map(\.pair)
        self.authenticator = authenticator
        self.others = others
        let identity: String? =
            if case .known(let identity) = authenticator { identity } else { nil }
        state = Mutex(State(authenticator: identity))
        digest = Self.digest(self.cookies, identity, others)
    }

    /// Whether other credentials were sent than those of the digest.
    package var haveChanged: Bool { state.withLock { $0.haveChanged } }

    /// The digest for another URL of the same origin, with the credentials that were sent.
    package func digest(cookies: [Cookie]) -> String? {
        Self.digest(cookies.map(\.pair), state.withLock { $0.authenticator }, others)
    }

    /// Records the jar's cookies of a request or of a redirect.
    package func sent(_ cookies: [Cookie], to url: URI) {
        let isUnchanged = cookies.lazy.map(\.pair).elementsEqual(self.cookies)
        // A redirect may lead to a host or a path without cookies; its response then has no user.
        let isElsewhere = url.origin != self.url.origin || url.path != self.url.path
        guard !isUnchanged, !(cookies.isEmpty && isElsewhere) else { return }
        state.withLock { $0.haveChanged = true }
    }

    /// Records the further credentials of a repeated request.
    package func sent(others: String) {
        if others != self.others { state.withLock { $0.haveChanged = true } }
    }

    /// Records the credentials that an authenticator added.
    package func sent(authenticator identity: String?) {
        state.withLock { state in
            state.authenticator = identity
            if case .known(let expected) = authenticator, expected != identity {
                state.haveChanged = true
            }
        }
    }

    private static func digest(
        _ cookies: [String], _ authenticator: String?, _ others: String
    ) -> String? {
        guard !cookies.isEmpty || authenticator != nil || !others.isEmpty else { return nil }
        // The authenticator's identity is any text, so it comes last.
        let text =
            cookies.joined(separator: "; ") + "\n" + others + "\n"
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
            let isAppended = other == original.url && query.hasPrefix(before)
            lines.append(isAppended ? String(query.dropFirst(before.count)) : sent.url.string)
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
