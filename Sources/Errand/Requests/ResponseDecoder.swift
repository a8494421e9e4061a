public import ErrandCore

/// Makes a typed output of an answer, off the main actor.
nonisolated public struct ResponseDecoder<Output: Sendable>: Sendable {
    private let body: @Sendable (Response) throws -> Output

    /// Makes a decoder of a closure.
    ///
    /// What it throws fails the request with ``RequestError/Code/undecodable``, a thrown
    /// `RequestError` as it is.
    public init(_ body: @escaping @Sendable (Response) throws -> Output) { self.body = body }

    /// Decodes an answer.
    public func decode(_ response: Response) throws(RequestError) -> Output {
        do {
            return try body(response)
        } catch let error as RequestError {
            throw error
        } catch {
            throw RequestError(
                .undecodable, stage: .decode,
                "The answer is no \(Output.self): \(DecodingFault.describe(error))",
                response: response, underlying: error, attempts: response.attempts)
        }
    }

    static func missing(in endpoint: String) -> Self {
        ResponseDecoder { response in
            throw RequestError(
                .undecodable, stage: .decode,
                "\(endpoint) has no decoder; override decoder, or derive it from JSONRequest.",
                response: response)
        }
    }
}
