public import ErrandSystem

/// The finished steps of a named chain, from which a later run continues.
public struct Checkpoint: Sendable, Hashable, Codable {
    /// The name of the chain, which identifies its checkpoint in a store.
    public var chain: String
    /// Differs for each saved checkpoint.
    public var revision: UUID
    /// A description of each step of the chain; a checkpoint with another definition is refused.
    public var definition: [String]
    /// The encoded outputs of the steps that are not run again, in order; `nil` for a step without an output.
    ///
    /// They may contain personal data, such as the values of responses.
    public var outputs: [Data?]

    /// Creates a checkpoint.
    ///
    /// - Parameters:
    ///   - chain: The name of the chain.
    ///   - revision: Differs for each saved checkpoint. Default: a new value.
    ///   - definition: A description of each step.
    ///   - outputs: The encoded outputs of the steps that are not run again.
    public init(chain: String, revision: UUID = UUID(), definition: [String], outputs: [Data?]) {
        self.chain = chain
        self.revision = revision
        self.definition = definition
        self.outputs = outputs
    }
}
