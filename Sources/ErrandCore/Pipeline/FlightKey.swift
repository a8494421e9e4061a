import Foundation
import HTTPTypes

/// What makes two requests under way the same: the cache key, every header, and where a download goes.
///
/// Stricter than the cache key on purpose: an answer on its way belongs to whoever asked, with the credentials
/// that were shown.
enum FlightKey {
    static func key(for exchange: Exchange) -> CacheKey? {
        guard let key = cacheKey(for: exchange) else { return nil }
        var hash = SHA256()
        func add(_ text: String) { hash.update(Data((text + "\n").utf8)) }
        for field in exchange.request.headers {
            add(field.name.canonicalName + ":" + field.value)
        }
        add(exchange.description.download?.destination.absoluteString ?? "")
        // What follows a redirect inherits it.
        add(RedirectStep.ownFragment(of: exchange.description) ?? "")
        return CacheKey(canonical: key.canonical + "\n" + hash.finalizeHex())
    }
}
