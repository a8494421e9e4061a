public import ErrandHTTP

extension RequestDescription {
    /// How a request uses the store, beside `cacheSeconds` and `cacheVersion`.
    public struct CacheOptions: Sendable {
        package init() {}

        /// The order of store and network.
        ///
        /// Default `nil`: ``Configuration/cachePolicy``, which is ``CachePolicy/cacheElseLoad``. No effect on
        /// downloads. Errors: ``RequestError/Code/cacheMiss`` with ``CachePolicy/cacheOnly``, and with `only-if-cached`
        /// under ``CachePolicy/http``; ``RequestError/Code/invalidCombination`` for a download with one that reads the
        /// store first.
        public var policy: CachePolicy?
        /// The user whose data this is; entries of another identity are not used.
        ///
        /// Default `nil`: ``Configuration/cacheIdentity``, otherwise the credentials. For downloads it only separates
        /// identical requests.
        public var identity: String?
        /// The arguments that are part of the cache key, without nonces and timestamps.
        ///
        ///     request.cache.arguments = request.arguments?.without(["nonce"])
        ///
        /// Default `nil`: all. For downloads it only decides which requests are identical.
        public var arguments: Arguments?
        /// How long after its lifetime a stored response is used without the network, for ``CachePolicy/cacheOnly``,
        /// ``CachePolicy/cacheThenLoad``, `cachedResponse()`, and `only-if-cached` under ``CachePolicy/http``.
        ///
        /// Default `nil`: zero, and any time with ``CachePolicy/cacheThenLoad``. See <doc:Caching>.
        public var maximumStaleness: Duration?
        /// Whether the response is delivered before it is written to the store.
        ///
        /// Default true. ``RequestAgent/flushCache()`` waits for all pending writes. No effect on downloads.
        public var writesAsynchronously = true
        /// Changes the response that is stored, after ``Configuration/responseToStore``; `nil` from the closure stores
        /// none.
        ///
        /// Default `nil`: unchanged. Called off the main actor, before the response processors, for a stream with the
        /// head only.
        public var transform: (@Sendable (Response) -> Response?)?
    }
}
