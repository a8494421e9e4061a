package import ErrandHTTP
package import ErrandSystem

extension DispatchQueue {
    /// Performs blocking work on the queue; the caller is suspended, so no thread of the cooperative pool is blocked.
    package func perform<T: Sendable>(
        _ work: @escaping @Sendable () throws(RequestError) -> T
    ) async throws(RequestError) -> T {
        let result = await withCheckedContinuation { continuation in
            async {
                continuation.resume(returning: Result { () throws(RequestError) in try work() })
            }
        }
        return try result.get()
    }
}
