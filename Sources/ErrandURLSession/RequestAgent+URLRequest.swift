public import ErrandCore
import ErrandTransport
import HTTPTypes

#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

extension RequestAgent {
    /// Builds the request of a description as a `URLRequest`, without sending it.
    ///
    ///     let urlRequest = try await agent.urlRequest(for: GetUser(id: 7).makeDescription())
    ///
    /// ``transportRequest(for:)`` describes its contents. The body is collected in memory.
    ///
    /// - Throws: The error with which a start would fail before anything is sent;
    ///   ``RequestError/Code/bodyTooLarge`` for a body of more than 64 MiB.
    nonisolated(nonsending) public func urlRequest(
        for description: RequestDescription
    ) async throws(RequestError) -> URLRequest {
        let made = try await transportRequest(for: description)
        guard made.body?.trailerNames.isEmpty != false else {
            throw RequestError(
                .unsupported, stage: .build,
                "A URLRequest cannot represent the trailers of the request's body. Use "
                    + "transportRequest(for:).")
        }
        guard let url = URL(string: made.url.string) else {
            throw RequestError(
                .invalidURL, stage: .build,
                "Foundation's URL cannot represent \(made.url.redacted). Change the URL, or use "
                    + "transportRequest(for:).")
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
}
