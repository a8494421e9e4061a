import Foundation
import HTTPTypes

struct RequestBuilder {
    func build(
        _ description: RequestDescription, configuration: Configuration, sharedHeaders: HTTPFields,
        sharedArguments: Arguments, relativeURL: String
    ) throws(RequestError) -> TransportRequest { .init(url: URI()) }
    static func absoluteURL(parsing: String) throws(RequestError) -> URI { URI() }
    static func cacheKey(
        for: TransportRequest, description: RequestDescription, configuration: Configuration,
        sharedArguments: Arguments
    ) throws(RequestError) -> CacheKey? { nil }
}
extension Arguments { func merging(_ x: Arguments) -> Arguments { x };  }
