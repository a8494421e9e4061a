/// How a request uses the store.
public enum CachePolicy: Sendable, Hashable {
    /// A fresh entry answers and nothing is sent; else the network. The default.
    case cacheElseLoad
    /// The network; a stored entry of any age when that fails.
    case loadElseCache
    /// Nothing is ever sent; a miss is ``RequestError/Code/cacheMiss``.
    case cacheOnly
    /// The network, whatever is stored; the answer is stored.
    case reload
    /// As the server's headers say (RFC 9111, a private cache): ``RequestDescription/cacheSeconds`` is not looked at.
    ///
    /// Fresh answers are used, stale ones are revalidated with their `ETag` and `Last-Modified`, variants are told
    /// apart by `Vary`, and `stale-while-revalidate` and `stale-if-error` hold. ``Configuration/httpCache`` says what
    /// is guessed where the server says nothing. What an endpoint asks for in its own `Cache-Control`, such as
    /// `no-cache` or `only-if-cached`, is heeded.
    case http
}
