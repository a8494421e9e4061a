import Foundation
import HTTPTypes

public final class MemoryResponseStore: ResponseStore {
    public init() {}
    public func entry(for key: CacheKey) async throws(RequestError) -> StoredResponse? { nil }
    public func store(_ entry: StoredResponse, for key: CacheKey) async throws(RequestError) {}
    public func remove(_ key: CacheKey) async throws(RequestError) {}
    public func removeAll(where predicate: (@Sendable (StoredEntryInfo) -> Bool)?)
        async throws(RequestError)
    {}
    public func entries() async throws(RequestError) -> [StoredEntryInfo] { [] }
}
struct CacheStep: Step {
    func run(_ exchange: Exchange, next: Next) async throws(RequestError) -> Response {
        try await next(exchange)
    }
}
struct DownloadStep: Step {
    func run(_ exchange: Exchange, next: Next) async throws(RequestError) -> Response {
        try await next(exchange)
    }
}
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
