public import ErrandCore
import ErrandJSON

/// Makes a typed output from a response, off the main actor.
///
/// There are decoders for common formats: `.data`, `.string`, `.json`, `.json(User.self)`,
/// `.propertyList(Settings.self)`, `.xml { … }`, `.firstOf([…])`, `.empty`.
nonisolated public struct ResponseDecoder<Output: Sendable>: Sendable {
    private let body: @Sendable (Response, JSONReader, [String]) throws -> Output
    /// How the endpoint came by the decoder.
    var origin = DecoderOrigin.custom

    /// Creates a decoder from a closure.
    ///
    /// An error that it throws fails the request with ``RequestError/Code/undecodable``; a thrown ``RequestError``
    /// is delivered unchanged.
    public init(_ body: @escaping @Sendable (Response) throws -> Output) {
        self.body = { response, _, _ in try body(response) }
    }

    /// Creates a decoder of JSON from a closure that also receives the JSON decoder of the request, and the keys that
    /// lead to the output.
    init(json body: @escaping @Sendable (Response, JSONReader, [String]) throws -> Output) {
        self.init(origin: .json, body)
    }

    init(
        origin: DecoderOrigin,
        _ body: @escaping @Sendable (Response, JSONReader, [String]) throws -> Output
    ) {
        self.body = body
        self.origin = origin
    }

    /// Decodes a response, with the JSON decoder of its endpoint or configuration.
    public func decode(_ response: Response) throws(RequestError) -> Output {
        try decode(response, with: response.decoder?.value ?? .responseDefault, at: [])
    }

    func decode(
        _ response: Response, with json: JSONReader, at path: [String]
    ) throws(RequestError) -> Output {
        do {
            return try body(response, json, path)
        } catch let error as RequestError {
            throw error
        } catch {
            throw response.undecodable(
                Output.self, DecodingErrorFormatter.describe(error), error)
        }
    }

    /// The decoder of an endpoint that has none; such an endpoint is refused before anything is sent.
    static var missing: Self {
        var decoder = ResponseDecoder { response in
            throw RequestError(
                .undecodable, stage: .decode, "The endpoint has no decoder.", response: response)
        }
        decoder.origin = .missing
        return decoder
    }
}
