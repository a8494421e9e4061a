import Foundation
import HTTPTypes

extension RequestBuilder {
    static func cacheKey(
        for: TransportRequest, description: RequestDescription, configuration: Configuration,
        sharedArguments: Arguments
    ) throws(RequestError) -> CacheKey? { nil }
}
