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
                "The answer is no \(Output.self): \(Self.describe(error))", response: response,
                underlying: error, attempts: response.attempts)
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

    /// Where decoding stopped and why, without any value of the answer.
    private static func describe(_ error: any Error) -> String {
        guard let error = error as? DecodingError else { return "\(type(of: error))." }
        switch error {
        case .typeMismatch(let type, let context):
            return "\(path(context)) is no \(type)."
        case .valueNotFound(let type, let context):
            return "\(path(context)) is null where \(type) is expected."
        case .keyNotFound(let key, let context):
            return "\(path(context)) has no key \(key.stringValue)."
        case .dataCorrupted(let context):
            return "\(path(context)): \(context.debugDescription)"
        @unknown default:
            return "\(type(of: error))."
        }
    }

    private static func path(_ context: DecodingError.Context) -> String {
        context.codingPath.reduce(into: "$") { path, key in
            path += key.intValue.map { "[\($0)]" } ?? ".\(key.stringValue)"
        }
    }
}
