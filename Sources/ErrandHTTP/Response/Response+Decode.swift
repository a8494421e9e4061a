public import ErrandJSON

extension Response {
    /// Decodes the JSON body as a value, for example `try response.decode(User.self)`.
    ///
    /// The JSON is parsed once, at the first use of this method or of ``json``. The value is decoded at every
    /// call, on the caller's thread. An empty body is decoded as `nil` for an optional type.
    ///
    /// - Parameter decoder: Key, date and data strategies. Default `nil`: those of the endpoint's `json`,
    ///   otherwise of `Configuration.json`.
    /// - Throws: ``RequestError/Code/undecodable`` at stage ``RequestError/Stage/decode``. The message contains
    ///   the path in the JSON, what was expected and what was found; the underlying error is a `DecodingError` or
    ///   `JSONError`.
    public func decode<T: Decodable>(
        _ type: T.Type = T.self, decoder: JSONReader? = nil
    ) throws(RequestError) -> T {
        try decode(type, decoder: decoder ?? self.decoder?.value ?? .responseDefault, at: [])
    }

    /// Decodes the value to which keys of the JSON lead.
    package func decode<T: Decodable>(
        _ type: T.Type, decoder: JSONReader, at path: [String]
    ) throws(RequestError) -> T {
        if hasEmptyBody { return try valueWithoutBody(type) }
        var root = JSON.absent
        do {
            root = try parsedJSON()
            return try decoder.decode(type, from: path.reduce(root) { $0[$1] })
        } catch {
            let formatter = DecodingErrorFormatter(root: root, base: path, decoder: decoder)
            throw undecodable(type, formatter.describe(error), error)
        }
    }

    /// The value of a missing body.
    ///
    /// - Throws: ``RequestError/Code/undecodable`` for a type that needs a body.
    package func valueWithoutBody<T>(_ type: T.Type) throws(RequestError) -> T {
        if let type = T.self as? any EmptyDecodable.Type, let empty = type.valueOfNothing as? T {
            return empty
        }
        throw undecodable(
            type,
            "the response with status \(statusCode) has no body. Conform the endpoint to VoidOutput, or make the output "
                + "optional (\(type)?) if only some responses have no body.", nil)
    }

    /// The error for a body that is not a value of a type.
    package func undecodable(
        _ type: Any.Type, _ reason: String, _ underlying: (any Error)?
    ) -> RequestError {
        RequestError(
            .undecodable, stage: .decode, "Could not decode the response as \(type): \(reason)",
            response: self, underlying: underlying, attempts: attempts)
    }
}

/// A type that an empty body can be decoded as.
package protocol EmptyDecodable {
    static var valueOfNothing: Self { get }
}

extension Optional: EmptyDecodable {
    package static var valueOfNothing: Wrapped? { nil }
}
