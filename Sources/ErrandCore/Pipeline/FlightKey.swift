import Foundation
import HTTPTypes

/// What makes two requests under way the same: the cache key, every header, where a download goes, and how they are
/// carried and redirected.
///
/// Stricter than the cache key on purpose: an answer on its way belongs to whoever asked, with the credentials
/// that were shown, the trust that was asked for, and the redirects that were allowed.
struct FlightKey: Hashable, Sendable {
    private let request: CacheKey
    private let options: TransportOptions
    private let redirectPolicy: RedirectPolicy
    private let usesCookies: Bool
    private let decider: Decider?

    /// Whose word on redirects counts: a decider belongs to a configuration, and may say something else of another endpoint.
    private struct Decider: Hashable {
        let configuration: ObjectIdentifier
        let endpoint: String
    }

    /// The key of a request; `nil` for a body that cannot be compared.
    init?(_ exchange: Exchange) {
        guard let key = cacheKey(for: exchange) else { return nil }
        var hash = SHA256()
        func add(_ text: String) { hash.update(Data((text + "\n").utf8)) }
        for field in exchange.request.headers {
            add(field.name.canonicalName + ":" + field.value)
        }
        add(exchange.description.download?.destination.absoluteString ?? "")
        // What follows a redirect inherits it.
        add(RedirectStep.ownFragment(of: exchange.description) ?? "")
        request = CacheKey(canonical: key.canonical + "\n" + hash.finalizeHex())
        // With the endpoint's `transportOverrides` and `securityPolicy` in it.
        options = exchange.request.options
        redirectPolicy =
            exchange.description.redirectPolicy ?? exchange.configuration.redirectPolicy
        usesCookies = exchange.description.usesCookies && exchange.configuration.usesCookies
        // The flight keeps its leader's configuration alive, so that the identity is nobody else's meanwhile.
        decider =
            exchange.configuration.redirectDecider == nil
            ? nil
            : Decider(
                configuration: ObjectIdentifier(exchange.context.sharedConfiguration),
                endpoint: exchange.description.endpoint)
    }
}
