/// How a request uses the store.
public enum CachePolicy: Sendable, Hashable {
    /// A fresh entry is used and nothing is sent; otherwise the network is used.
    ///
    /// The default.
    case cacheElseLoad
    /// The network is used; if it fails, a stored entry of any age is used.
    case loadElseCache
    /// Nothing is ever sent; a miss fails with ``RequestError/Code/cacheMiss``.
    case cacheOnly
    /// The network is used, whatever is stored; the response is stored.
    case reload
    /// A stored entry of any age is delivered first, then the response of the network.
    ///
    /// `updates()` is a sequence of both, without the second one if it equals the first. The closures of `start` are
    /// called with both: for the stored one, and at the end. `send()` and `value()` return the response of the network.
    /// If the network fails, the stored response is the result, a success with ``Response/loadError``.
    /// ``RequestDescription/CacheOptions/maximumStaleness`` limits the age. Streams, downloads, and members of composites
    /// refuse the policy with ``RequestError/Code/invalidCombination``.
    case cacheThenLoad
    /// The headers of the server decide, as in a private cache (RFC 9111).
    ///
    /// ``RequestDescription/cacheSeconds`` is ignored. Fresh responses are used, stale responses
    /// are revalidated with their `ETag` and `Last-Modified`, and `Vary` selects among variants.
    /// `stale-while-revalidate` and `stale-if-error` are supported (RFC 5861).
    /// ``Configuration/httpCache`` sets the heuristics for responses without a lifetime. Directives
    /// in the `Cache-Control` of the request, such as `no-cache` or `only-if-cached`, are obeyed.
    case http
    /// As ``http``, with a stored response delivered first, as with ``cacheThenLoad``.
    ///
    /// The stored response may be stale, unless its `Cache-Control` forbids that, and is revalidated even if it is
    /// fresh. A request with `only-if-cached` gets the stored response only.
    case httpThenLoad

    /// Whether the headers of the server decide (RFC 9111).
    package var isHTTP: Bool { self == .http || self == .httpThenLoad }

    /// Whether a stored response is delivered before that of the network.
    package var deliversStored: Bool { self == .cacheThenLoad || self == .httpThenLoad }
}
