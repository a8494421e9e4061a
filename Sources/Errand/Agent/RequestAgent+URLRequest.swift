public import ErrandCore
import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#else
    public import Foundation
#endif

extension RequestAgent {
    /// The request that an endpoint would send, as a `URLRequest`, without sending it (row URL-10).
    ///
    /// What it holds and what not is said at ``transportRequest(for:)``. The endpoint is described once; its hooks are
    /// not called.
    ///
    /// - Throws: What starting it would fail with before anything is sent; ``RequestError/Code/bodyTooLarge`` for a
    ///   body of more than 64 MiB, which is collected in memory.
    nonisolated(nonsending) public func urlRequest(
        for request: BaseRequest
    ) async throws(RequestError) -> URLRequest {
        let made = try await transportRequest(for: request.describe())
        guard let url = URL(string: made.url.string) else {
            throw RequestError(
                .invalidURL, stage: .build, "Foundation has no URL for \(made.url.redacted).")
        }
        var result = URLRequest(url: url)
        result.httpMethod = made.method.rawValue
        result.allowsCellularAccess = made.options.allowsCellularAccess
        if let idle = made.timeouts.idle {
            let (seconds, attoseconds) = idle.components
            result.timeoutInterval = Double(seconds) + Double(attoseconds) / 1e18
        }
        for field in made.headers {
            result.addValue(field.value, forHTTPHeaderField: field.name.rawName)
        }
        if let body = made.body { result.httpBody = try await body.bytes() }
        return result
    }

    /// The request that an endpoint would send as a command line for a shell.
    ///
    /// - Parameter redactsSecrets: Whether credentials, cookies, arguments that speak of secrets, and the body's bytes
    ///   are left out (default true).
    /// - Throws: What starting it would fail with before anything is sent.
    nonisolated(nonsending) public func curlCommand(
        for request: BaseRequest, redactsSecrets: Bool = true
    ) async throws(RequestError) -> String {
        try await transportRequest(for: request.describe())
            .curlCommand(redactsSecrets: redactsSecrets)
    }
}
