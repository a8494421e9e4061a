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
}
