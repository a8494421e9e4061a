extension Arguments {
    /// The members of any value that encodes itself as an object.
    ///
    /// Names come in the order in which the value encodes them; those of dictionaries are sorted.
    ///
    /// - Throws: ``RequestError/Code/invalidArguments`` when the value is no object, or cannot be encoded.
    public init(_ value: some Encodable) throws(RequestError) {
        let node: ArgumentNode
        do {
            node = try ArgumentNodeEncoder.node(of: value)
        } catch let error as RequestError {
            throw error
        } catch {
            throw RequestError(
                .invalidArguments, stage: .build,
                "The arguments of type \(type(of: value)) cannot be encoded.", underlying: error)
        }
        guard case .object(let arguments) = node else {
            throw RequestError(
                .invalidArguments, stage: .build,
                "Arguments have names, but \(type(of: value)) encodes itself as a list or a single value. "
                    + "Wrap it in an object, or send it as a body.")
        }
        self = arguments
    }
}
