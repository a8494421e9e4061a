public import ErrandCore
import ErrandTransport

extension RequestAgent {
    /// Builds the request of an endpoint as a `curl` command for a shell, without sending it.
    ///
    /// - Parameters:
    ///   - request: The endpoint. It is not started.
    ///   - redactsSecrets: Whether credentials, cookies, arguments with the names of secrets, and
    ///     the body's bytes are omitted. Default true.
    /// - Throws: The error with which a start would fail before anything is sent.
    nonisolated(nonsending) public func curlCommand(
        for request: BaseRequest, redactsSecrets: Bool = true
    ) async throws(RequestError) -> String {
        try await transportRequest(for: request.makeDescription())
            .curlCommand(redactsSecrets: redactsSecrets)
    }
}
