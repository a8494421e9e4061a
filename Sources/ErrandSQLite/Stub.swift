public import ErrandCore
public import Foundation
public struct SQLiteResponseStore: ResponseStore { public init(url: URL) {} ; public static func defaultURL(named: String) -> URL { URL(fileURLWithPath: "") }
 public func entry(for key: CacheKey) async throws(RequestError) -> StoredResponse? { nil }
 public func store(_ entry: StoredResponse, for key: CacheKey) async throws(RequestError) {}
 public func remove(_ key: CacheKey) async throws(RequestError) {}
 public func removeAll(where predicate: (@Sendable (StoredEntryInfo) -> Bool)?) async throws(RequestError) {}
 public func entries() async throws(RequestError) -> [StoredEntryInfo] {[]} }
