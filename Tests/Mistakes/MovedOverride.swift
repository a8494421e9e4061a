import Errand

final class MovedOverride: BaseRequest {
    override var cachePolicy: CachePolicy? { .reload }
}

// error: property does not override any property from its superclass
