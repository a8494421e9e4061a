public import ErrandCore
import ErrandJSON

/// Makes a typed output from a response, off the main actor.
///
/// There are decoders for common formats: `.data`, `.string`, `.json`, `.json(User.self)`,
/// `.propertyList(Settings.self)`, `.xml { … }`, `.firstOf([…])`, `.empty`.
nonisolated public struct ResponseDecoder<Output: Sendable>: Sendable {
    private let body: @Sendable (Response, FastJSONDecoder) throws -> Output
    /// How the endpoint came by the decoder.
    var origin = DecoderOrigin.custom

    /// Creates a decoder from a closure.
    ///
    /// An error that it throws fails the request with ``RequestError/Code/undecodable``; a thrown ``RequestError``
    /// is delivered unchanged.
    public init(_ body: @escaping @Sendable (Response) throws -> Output) {
        self.body = { response, _ in try body(response) }
    }

    /// Creates a decoder from a closure that also receives the configuration's JSON decoder.
    init(json body: @escaping @Sendable (Response, FastJSONDecoder) throws -> Output) {
        self.body = body
    }

    /// Decodes a response, with the JSON decoder of its endpoint or configuration.
    public func decode(_ response: Response) throws(RequestError) -> Output {
        try decode(response, with: response.decoder?.value ?? FastJSONDecoder())
    }

    func decode(_ response: Response, with json: FastJSONDecoder) throws(RequestError) -> Output {
        do {
            return try body(response, json)
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
