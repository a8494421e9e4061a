import ErrandHTTP
import ErrandSystem
import HTTPTypes
import Synchronization

/// The idempotency keys of a request that is repeated as a whole, for example because its response cannot be processed.
///
/// Each repetition sends the key of the first one. An interceptor may send requests to other URLs as well: these have
/// keys of their own, because a server takes two requests with one key for one operation. The query does not count: it
/// may have a timestamp.
final class IdempotencyKeys: Sendable {
    private let keys = Mutex<[String: String]>([:])

    /// The key of a request.
    func key(for request: TransportRequest) -> String {
        let target = "\(request.method.rawValue) \(request.url.origin)\(request.url.path)"
        return keys.withLock { keys in
            if let known = keys[target] { return known }
            let new = UUID().uuidString
            keys[target] = new
            return new
        }
    }
}
