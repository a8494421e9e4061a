import ErrandCore
public import ErrandJSON
public import Foundation

// The kinds of output that are met most (row RSP-1).

nonisolated extension ResponseDecoder where Output == Data {
    /// The body's bytes.
    public static var data: Self { ResponseDecoder { $0.data } }
}

nonisolated extension ResponseDecoder where Output == String {
    /// The body as text: the charset of the header, else the byte order mark, else UTF-8, else Latin-1.
    ///
    /// Fails where the bytes are not in the charset that the header names.
    public static var string: Self {
        ResponseDecoder { response in
            guard let text = response.string else {
                throw RequestError(
                    .undecodable, stage: .decode,
                    "The body is not in the charset that its Content-Type names.",
                    response: response, attempts: response.attempts)
            }
            return text
        }
    }
}

nonisolated extension ResponseDecoder where Output == JSON {
    /// The body as JSON of any shape; ``JSON/absent`` for an empty body.
    public static var json: Self {
        ResponseDecoder { $0.hasEmptyBody ? .absent : try $0.parsedJSON() }
    }
}

nonisolated extension ResponseDecoder where Output == EmptyBody {
    /// Nothing: for answers that are expected to have no body; a body is not looked at.
    public static var empty: Self { ResponseDecoder { _ in EmptyBody() } }
}

nonisolated extension ResponseDecoder {
    /// JSON as a value.
    ///
    /// - Parameters:
    ///   - decoder: Key, date and data strategies; `nil` takes `Configuration.jsonDecoder`.
    ///   - path: The keys that lead to the value, for services that wrap it: `["data", "user"]`. Default none.
    public static func json(
        _ type: Output.Type = Output.self, decoder: FastJSONDecoder? = nil, at path: [String] = []
    ) -> Self where Output: Decodable {
        ResponseDecoder(json: { response, standard in
            if response.hasEmptyBody, let type = Output.self as? any EmptyDecodable.Type,
                let empty = type.valueOfNothing as? Output
            {
                return empty
            }
            var json = try response.parsedJSON()
            for key in path { json = json[key] }
            return try (decoder ?? standard).decode(Output.self, from: json)
        })
    }

    /// A property list, XML or binary, as a value.
    public static func propertyList(_ type: Output.Type = Output.self) -> Self
    where Output: Decodable {
        ResponseDecoder { try PropertyListDecoder().decode(Output.self, from: $0.data) }
    }

    /// XML, by the parser of your choice: `Foundation`'s is in `FoundationXML` on Linux.
    ///
    /// - Parameter parse: Gets the body's bytes, which hold their own declaration of a charset.
    public static func xml(_ parse: @escaping @Sendable (Data) throws -> Output) -> Self {
        ResponseDecoder { try parse($0.data) }
    }

    /// The output of whichever decoder succeeds first; the first one's error when none does.
    public static func firstOf(_ decoders: [Self]) -> Self {
        ResponseDecoder(json: { response, json in
            var first: RequestError?
            for decoder in decoders {
                do throws(RequestError) {
                    return try decoder.decode(response, with: json)
                } catch {
                    first = first ?? error
                }
            }
            throw first
                ?? RequestError(
                    .undecodable, stage: .decode, "firstOf has no decoders.", response: response)
        })
    }

    /// The same output, made into another.
    public func map<Other>(
        _ transform: @escaping @Sendable (Output) throws -> Other
    ) -> ResponseDecoder<Other> {
        ResponseDecoder<Other>(json: { try transform(decode($0, with: $1)) })
    }
}

extension Response {
    /// Nothing, or one single space, counts as nothing (row RSP-4).
    nonisolated fileprivate var hasEmptyBody: Bool {
        guard case .data(let data) = body else { return false }
        return data.isEmpty || (data.count == 1 && data.first == 0x20)
    }
}
