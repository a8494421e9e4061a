public import ErrandCore
import ErrandJSON

/// Makes a typed output of an answer, off the main actor.
///
/// For what is met most there is one already: `.data`, `.string`, `.json`, `.json(User.self)`,
/// `.propertyList(Settings.self)`, `.xml { … }`, `.firstOf([…])`, `.empty`.
nonisolated public struct ResponseDecoder<Output: Sendable>: Sendable {
    private let body: @Sendable (Response, FastJSONDecoder) throws -> Output

    /// Makes a decoder of a closure.
    ///
    /// What it throws fails the request with ``RequestError/Code/undecodable``, a thrown
    /// `RequestError` as it is.
    public init(_ body: @escaping @Sendable (Response) throws -> Output) {
        self.body = { response, _ in try body(response) }
    }

    /// Makes a decoder of a closure that gets the configuration's decoder of JSON.
    init(json body: @escaping @Sendable (Response, FastJSONDecoder) throws -> Output) {
        self.body = body
    }

    /// Decodes an answer, JSON without strategies.
    public func decode(_ response: Response) throws(RequestError) -> Output {
        try decode(response, with: FastJSONDecoder())
    }

    func decode(_ response: Response, with json: FastJSONDecoder) throws(RequestError) -> Output {
        do {
            return try body(response, json)
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
