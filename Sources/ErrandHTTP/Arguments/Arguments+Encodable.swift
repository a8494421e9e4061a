extension Arguments {
    /// Creates arguments from the members of a value that encodes itself as a keyed container.
    ///
    /// The arguments keep the order of encoding; dictionaries are sorted by key.
    ///
    /// - Throws: ``RequestError/Code/invalidArguments`` if the value is not an object or cannot be encoded.
    public init(_ value: some Encodable) throws(RequestError) {
        let node: ArgumentNode
        do {
            node = try ArgumentNodeEncoder.node(of: value)
        } catch let error as RequestError {
            throw error
        } catch {
            throw RequestError(
                .invalidArguments, stage: .build,
                "The arguments of type \(type(of: value)) cannot be encoded. See the underlying error.",
                underlying: error)
        }
        guard case .object(let arguments) = node else {
            throw RequestError(
                .invalidArguments, stage: .build,
                "\(type(of: value)) encodes itself as a list or a single value, but arguments need names. "
                    + "Wrap it in an object, or send it as a body.")
        }
        self = arguments
    }
}
