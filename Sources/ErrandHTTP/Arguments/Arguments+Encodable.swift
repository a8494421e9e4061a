public import ErrandJSON

extension Arguments {
    /// Creates arguments from the members of a value that encodes itself as a keyed container.
    ///
    /// The value is encoded at once. The arguments keep the order of encoding; dictionaries are sorted by key. If
    /// the value is not an object or cannot be encoded, the request fails with
    /// ``RequestError/Code/invalidArguments`` before anything is sent.
    ///
    /// A property that is nil is a null in queries and forms, which ``ArgumentEncoding/nulls`` writes or leaves out; JSON
    /// and property lists leave it out, as encoders do.
    ///
    /// Names follow the key strategy of the encoder. Dates, data and floats follow its strategies too; where a
    /// strategy is the default of `Configuration.json` (`.iso8601`, `.base64`, `.throw`), they follow
    /// ``ArgumentEncoding``, like other arguments.
    ///
    /// - Parameter encoder: The strategies; all of them apply. Default `nil`: those of the endpoint's
    ///   `json`, otherwise of `Configuration.json`.
    public init(encoding value: some Encodable, encoder: JSONWriter? = nil) {
        do throws(RequestError) {
            self = try Self.members(of: value)
            if let encoder { self = try applying(encoder, areExplicit: true) }
        } catch {
            self.init()
            failure = Failure(error)
        }
    }

    /// The same as ``init(encoding:encoder:)``.
    public init(_ value: some Encodable) { self.init(encoding: value) }

    private static func members(of value: some Encodable) throws(RequestError) -> Arguments {
        let node: Arguments.Node
        do {
            node = try ArgumentNodeEncoder.node(of: value)
        } catch {
            throw error as? RequestError
                ?? RequestError(
                    .invalidArguments, stage: .build,
                    "The arguments of type \(type(of: value)) cannot be encoded"
                        + CodingPath.suffix(of: error) + ". See the underlying error.",
                    underlying: error)
        }
        guard case .object(let arguments) = node else {
            throw RequestError(
                .invalidArguments, stage: .build,
                "\(type(of: value)) encodes itself as a list or a single value, but arguments need names. "
                    + "Wrap it in an object, or send it as a body.")
        }
        return arguments
    }

    /// The arguments with the strategies of an encoder applied to everything that was encoded from a value.
    ///
    /// - Throws: ``RequestError/Code/invalidArguments``.
    package func applying(
        _ encoder: JSONWriter, areExplicit: Bool = false
    ) throws(RequestError) -> Arguments {
        guard areExplicit || ArgumentStrategies.areNeeded(for: encoder) else { return self }
        return try ArgumentStrategies(encoder, areExplicit: areExplicit).applied(to: self)
    }
}
