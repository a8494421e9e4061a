/// The cache key of a request: made from `cache.arguments` if `AdaptStep` set one, otherwise from the request for the
/// wire; `nil` if the bytes of its body are unknown.
package func cacheKey(for pipelineRequest: PipelineRequest) -> CacheKey? {
    pipelineRequest.cacheKey
        ?? CacheKeyBuilder.key(
            for: pipelineRequest.request,
            identity: pipelineRequest.description.cache.identity
                ?? pipelineRequest.configuration.cacheIdentity)
}
