import ErrandJSON

extension Response {
    /// Decodes the JSON body as a value, for example `try response.decode(User.self)`.
    ///
    /// The JSON is parsed once, at the first use of this method or of ``json``. The value is decoded at every
    /// call, on the caller's thread, with the defaults of `FastJSONDecoder`.
    ///
    /// - Throws: ``RequestError/Code/undecodable`` at stage ``RequestError/Stage/decode``. The message contains
    ///   the path in the JSON and the expected type; the underlying error is a `DecodingError` or `JSONError`.
    public func decode<T: Decodable>(_ type: T.Type = T.self) throws(RequestError) -> T {
        do {
            return try FastJSONDecoder().decode(type, from: parsedJSON())
        } catch {
            throw RequestError(
                .undecodable, stage: .decode,
                "Could not decode the response as \(type): \(DecodingErrorFormatter.describe(error))",
                response: self, underlying: error, attempts: attempts)
        }
    }
}

/// Describes where and why decoding failed, without any value of the response.
package enum DecodingErrorFormatter {
    package static func describe(_ error: any Error) -> String {
        if let error = error as? JSONError { return "the body is not valid JSON: \(error)." }
        guard let error = error as? DecodingError else { return "\(type(of: error))." }
        switch error {
        case .typeMismatch(let type, let context):
            return "expected \(type) at \(path(context))."
        case .valueNotFound(let type, let context):
            return "expected \(type), but found null at \(path(context))."
        case .keyNotFound(let key, let context):
            return "missing key '\(key.stringValue)' at \(path(context))."
        case .dataCorrupted(let context):
            return "invalid value at \(path(context))."
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
