import ErrandCore
public import ErrandJSON
public import ErrandSystem

// Decoders for the most common kinds of output.

nonisolated extension ResponseDecoder where Output == Data {
    /// The bytes of the body.
    public static var data: Self { ResponseDecoder { $0.data } }
}

nonisolated extension ResponseDecoder where Output == String {
    /// The body as text: by the charset of `Content-Type`, otherwise the byte order mark, otherwise UTF-8,
    /// otherwise Latin-1; see ``Response/string``.
    ///
    /// Fails with ``RequestError/Code/undecodable`` if the bytes are not valid in the charset of `Content-Type`, or if
    /// the charset is unknown; the message names it.
    public static var string: Self {
        ResponseDecoder { response in
            guard let text = response.string else {
                throw RequestError(
                    .undecodable, stage: .decode, response.textProblem, response: response,
                    attempts: response.attempts)
            }
            return text
        }
    }
}

nonisolated extension ResponseDecoder where Output == JSON {
    /// The body as JSON of any shape; ``JSON/absent`` for an empty body.
    public static var json: Self {
        ResponseDecoder(json: { response, _, _ in
            response.hasEmptyBody ? .absent : try response.parsedJSON()
        })
    }
}

nonisolated extension ResponseDecoder where Output == Void {
    /// For responses without a body; a body is ignored.
    public static var empty: Self { ResponseDecoder { _ in } }
}

nonisolated extension ResponseDecoder {
    /// Decodes JSON as a value.
    ///
    /// - Parameters:
    ///   - type: The type of the value.
    ///   - decoder: Key, date and data strategies; `nil` uses ``RequestDescription/json``, otherwise
    ///     ``Configuration/json``.
    ///   - path: The keys that lead to the value, for services that wrap it: `["data", "user"]`. Default `nil`:
    ///     ``JSONOptions/path``; an empty list is the whole body.
    public static func json(
        _ type: Output.Type = Output.self, decoder: JSONReader? = nil, at path: [String]? = nil
    ) -> Self where Output: Decodable {
        ResponseDecoder(json: { response, standard, shared in
            try response.decode(Output.self, decoder: decoder ?? standard, at: path ?? shared)
        })
    }

    /// Decodes a property list, XML or binary, as a value.
    public static func propertyList(_ type: Output.Type = Output.self) -> Self
    where Output: Decodable {
        ResponseDecoder { response in
            if response.hasEmptyBody { return try response.valueWithoutBody(Output.self) }
            return try PropertyListDecoder().decode(Output.self, from: response.data)
        }
    }

    /// Decodes XML with a parser of your choice; Foundation's is in `FoundationXML` on Linux.
    ///
    /// - Parameter parse: Called with the bytes of the body, which contain their own charset declaration.
    public static func xml(_ parse: @escaping @Sendable (Data) throws -> Output) -> Self {
        ResponseDecoder { try parse($0.data) }
    }

    /// The output of the first decoder that succeeds; if none does, the first one's error.
    public static func firstOf(_ decoders: [Self]) -> Self {
        ResponseDecoder(
            origin: .custom,
            { response, json, path in
                var first: RequestError?
                for decoder in decoders {
                    do throws(RequestError) {
                        return try decoder.decode(response, with: json, at: path)
                    } catch {
                        first = first ?? error
                    }
                }
                throw first
                    ?? RequestError(
                        .undecodable, stage: .decode,
                        "ResponseDecoder.firstOf was called without decoders.", response: response)
            })
    }

    /// Transforms the output into another.
    public func map<Other>(
        _ transform: @escaping @Sendable (Output) throws -> Other
    ) -> ResponseDecoder<Other> {
        ResponseDecoder<Other>(
            origin: origin == .json ? .json : .custom,
            { try transform(decode($0, with: $1, at: $2)) })
    }
}
