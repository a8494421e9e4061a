public import ErrandJSON
import ErrandSystem

extension HTTPBody {
    /// A body with a value as JSON; the value can also be an array or a scalar.
    ///
    /// The value is encoded when the request is built, off the caller's actor, once per start. If that fails, the
    /// request ends with ``RequestError/Code/invalidBody`` before anything is sent. Dictionaries and sets are
    /// written in sorted order, so that equal values have the same cache key.
    ///
    /// - Parameter encoder: Key, date, data and float strategies. Default `nil`: the endpoint's `json`,
    ///   otherwise `Configuration.json`.
    public static func json(
        _ value: some Encodable & Sendable, encoder: JSONWriter? = nil
    ) -> Self {
        json { (standard) throws(RequestError) in try data(of: value, encoder ?? standard) }
    }

    /// A body with a value of a type that is not `Sendable` as JSON.
    ///
    /// The value's `encode(to:)` is called at once, since the value cannot be sent to another actor. The strategies
    /// apply as for other values, except `JSONWriter.userInfo`, which only an `encoder` given here provides.
    ///
    /// - Parameter encoder: As for `Sendable` values.
    public static func json(_ value: some Encodable, encoder: JSONWriter? = nil) -> Self {
        do throws(RequestError) {
            if let encoder {
                return .data(try data(of: value, encoder), contentType: jsonType)
            }
            let name = "\(type(of: value))"
            let node: Arguments.Node
            do { node = try ArgumentNodeEncoder.node(of: value) } catch {
                throw failure(of: name, error)
            }
            return json { (encoder) throws(RequestError) in
                do { return try data(of: node, encoder) } catch {
                    throw failure(of: name, error)
                }
            }
        } catch {
            return HTTPBody(storage: .invalid(error), contentType: jsonType)
        }
    }

    /// A body with a value as JSON by the rules of arguments; no JSON encoder applies.
    ///
    /// The value is encoded at once. If that fails, the request ends with ``RequestError/Code/invalidBody``
    /// before anything is sent.
    public static func json(_ value: some Encodable, encoding: ArgumentEncoding) -> Self {
        do {
            let node = try ArgumentNodeEncoder.node(of: value)
            let bytes = try ArgumentJSONWriter.bytes(of: node, encoding: encoding)
            return .data(Data(bytes), contentType: jsonType)
        } catch {
            return HTTPBody(
                storage: .invalid(failure(of: "\(type(of: value))", error)), contentType: jsonType)
        }
    }

    private static let jsonType = "application/json"

    private static func json(
        encode: @escaping @Sendable (JSONWriter) throws(RequestError) -> Data
    ) -> Self {
        HTTPBody(storage: .value(encode: encode), contentType: jsonType)
    }

    private static func data(
        of value: some Encodable, _ encoder: JSONWriter
    ) throws(RequestError) -> Data {
        var encoder = encoder
        encoder.sortsUnordered = true
        do {
            return try encoder.encode(value)
        } catch {
            throw failure(of: "\(type(of: value))", error)
        }
    }

    private static func data(
        of node: Arguments.Node, _ encoder: JSONWriter
    ) throws(RequestError) -> Data {
        let node = try ArgumentStrategies(encoder, areExplicit: true).applied(to: node)
        let bytes = try ArgumentJSONWriter.bytes(of: node, encoding: ArgumentEncoding())
        let isArranged = encoder.outputFormatting == .withoutEscapingSlashes
        return Data(isArranged ? bytes : encoder.arranged(bytes))
    }

    private static func failure(of type: String, _ error: any Error) -> RequestError {
        RequestError(
            .invalidBody, stage: .build,
            "A value of type \(type) cannot be encoded as JSON\(CodingPath.suffix(of: error)). "
                + "See the underlying error.",
            underlying: error)
    }
}

extension HTTPBody {
    /// Whether a value is not encoded yet.
    package var needsEncoding: Bool {
        switch storage {
        case .value: true
        case .multipart(let multipart): multipart.parts.contains { $0.body.needsEncoding }
        case .data, .file, .stream, .invalid: false
        }
    }

    /// The body with its values encoded; unchanged, without any cost, if it has none.
    ///
    /// - Throws: ``RequestError/Code/invalidBody``.
    package func encoded(
        by encoder: @autoclosure () -> JSONWriter
    ) throws(RequestError) -> HTTPBody {
        guard needsEncoding else { return self }
        let encoder = encoder()
        var body = self
        switch storage {
        case .value(let encode): body.storage = .data(try encode(encoder))
        case .multipart(var multipart):
            for index in multipart.parts.indices {
                multipart.parts[index].body =
                    try multipart.parts[index].body.encoded(by: encoder)
            }
            body.storage = .multipart(multipart)
        case .data, .file, .stream, .invalid: break
        }
        return body
    }
}

extension JSONWriter {
    /// The default of `JSONOptions`: dates in ISO 8601, slashes without a backslash, and otherwise
    /// the defaults of `JSONEncoder`.
    public static var requestDefault: JSONWriter {
        var encoder = JSONWriter()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = .withoutEscapingSlashes
        return encoder
    }
}

extension JSONReader {
    /// The default of `JSONOptions`: dates in ISO 8601, and otherwise the defaults of `JSONDecoder`.
    public static var responseDefault: JSONReader {
        var decoder = JSONReader()
        decoder.dateDecodingStrategy = .iso8601
        return decoder
    }
}
