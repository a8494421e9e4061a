public import ErrandHTTP

/// A check of responses by the rules of a service, after status, content type, body and JSON shape.
///
/// For example, for a service that responds with `{"code": 1001, "msg": "Sold out"}` and status 200:
///
///     request.acceptance.rules.append(
///         ResponseRule { response in
///             switch response.json["code"].int {
///             case 0: .accept
///             case 9: .drop("superseded")
///             default: .reject(ServiceError(response.json["msg"].string))
///             }
///         })
///
/// It runs off the main actor, for the response of every attempt and for stored responses. A stored response
/// that it does not accept is removed from the store, and the request goes to the network.
public struct ResponseRule: Sendable {
    private let body: @Sendable (Response) throws -> Verdict

    /// The result of a check.
    public enum Verdict: Sendable {
        /// The response is a success.
        case accept
        /// The request fails with ``RequestError/Code/rejected`` and this underlying error.
        ///
        /// A `RequestError` is thrown unchanged. `Configuration.retryDecider` decides whether the request is
        /// retried.
        case reject(any Error)
        /// The request ends as cancelled, and the error message contains this reason.
        ///
        /// It is not retried, and no error processor is called.
        case drop(String)
    }

    /// Creates a rule; an error that the closure throws rejects the response.
    public init(_ body: @escaping @Sendable (Response) throws -> Verdict) { self.body = body }

    package func check(_ response: Response) throws(RequestError) {
        let verdict: Verdict
        do { verdict = try body(response) } catch { verdict = .reject(error) }
        switch verdict {
        case .accept: return
        case .reject(var error as RequestError):
            if error.response == nil { error.response = response }
            throw error
        case .reject(let error):
            throw RequestError(
                .rejected, stage: .validate,
                "A response rule rejected the response with \(type(of: error)). See the underlying error.",
                response: response, underlying: error)
        case .drop(let reason):
            throw RequestError(
                .cancelled, stage: .validate,
                "A response rule dropped the response: \(reason).",
                response: response)
        }
    }
}
