import ErrandJSON

extension Response {
    /// The body's JSON as a value, such as `try response.decode(User.self)`.
    ///
    /// The JSON is parsed at the first use of ``json`` or of this and kept; the value is made at every call, on the
    /// caller's thread, with `FastJSONDecoder`'s defaults.
    ///
    /// - Throws: ``RequestError/Code/undecodable`` at stage ``RequestError/Stage/decode``, with the place in
    ///   the JSON and what was expected there; the `DecodingError` or `JSONError` is underlying.
    public func decode<T: Decodable>(_ type: T.Type = T.self) throws(RequestError) -> T {
        do {
            return try FastJSONDecoder().decode(type, from: parsedJSON())
        } catch {
            throw RequestError(
                .undecodable, stage: .decode,
                "The answer is no \(type): \(DecodingFault.describe(error))", response: self,
                underlying: error, attempts: attempts)
        }
    }
}

/// Where decoding stopped and why, without any value of the answer.
package enum DecodingFault {
    package static func describe(_ error: any Error) -> String {
        if let error = error as? JSONError { return "The body is no JSON: \(error)." }
        guard let error = error as? DecodingError else { return "\(type(of: error))." }
        switch error {
        case .typeMismatch(let type, let context):
            return "\(path(context)) is no \(type)."
        case .valueNotFound(let type, let context):
            return "\(path(context)) is null where \(type) is expected."
        case .keyNotFound(let key, let context):
            return "\(path(context)) has no key \(key.stringValue)."
        case .dataCorrupted(let context):
            return "\(path(context)) cannot be read."
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
