import Foundation
import HTTPTypes

struct DownloadStep: Step {
    func run(_ exchange: Exchange, next: Next) async throws(RequestError) -> Response {
        try await next(exchange)
    }
}
extension RequestBuilder {
    static func cacheKey(
        for: TransportRequest, description: RequestDescription, configuration: Configuration,
        sharedArguments: Arguments
    ) throws(RequestError) -> CacheKey? { nil }
}
