/// Judges answers by the rules of a service, behind status, content type, body and shape (rows VAL-15, VAL-16).
///
/// For services that answer `{"code": 1001, "msg": "Sold out"}` with status 200:
///
///     override var businessValidator: BusinessValidator? {
///         BusinessValidator { response in
///             switch response.json["code"].int {
///             case 0: .accept
///             case 9: .drop("superseded")
///             default: .reject(ServiceError(response.json["msg"].string))
///             }
///         }
///     }
///
/// It runs off the main actor, for every attempt's answer and for stored ones too: a stored answer that it no longer
/// accepts is dropped from the store, and the request goes to the network.
public struct BusinessValidator: Sendable {
    private let body: @Sendable (Response) throws -> Verdict

    /// What becomes of an answer.
    public enum Verdict: Sendable {
        /// It is a success.
        case accept
        /// The request fails with ``RequestError/Code/rejected`` and this error beneath; a `RequestError` as it is.
        ///
        /// Whether it is sent again is for `Configuration.retryDecider` to say.
        case reject(any Error)
        /// The request ends as if its caller had cancelled it, with this reason in the error's message.
        ///
        /// It is not sent again, and no processor of errors sees it.
        case drop(String)
    }

    /// Makes a validator; an error that the closure throws rejects the answer.
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
                "The business validator rejected the answer with \(type(of: error)), which is underlying.",
                response: response, underlying: error)
        case .drop(let reason):
            throw RequestError(
                .cancelled, stage: .validate,
                "The business validator dropped the answer: \(reason).",
                response: response)
        }
    }
}
