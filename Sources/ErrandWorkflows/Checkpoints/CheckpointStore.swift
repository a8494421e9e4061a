public import ErrandCore
public import ErrandSystem

/// Stores one checkpoint for each named chain.
///
/// Each method is atomic: after a crash, a chain has its previous checkpoint or the new one. A change whose
/// method has returned without an error is durable, as far as the store is. Errors:
/// ``RequestError/Code/storeFailed``. The methods are called on no actor.
public protocol CheckpointStore: Sendable {
    /// The checkpoint of a chain; `nil` if there is none.
    func checkpoint(of chain: String) async throws(RequestError) -> Checkpoint?

    /// Stores a checkpoint in place of the previous one of its chain.
    ///
    /// - Parameters:
    ///   - checkpoint: The new checkpoint.
    ///   - previous: The revision of the checkpoint that it replaces; `nil` if there is none.
    /// - Returns: `false`, without a change, if the store has another checkpoint of the chain than the previous
    ///   one: another run of the chain has stored or removed it.
    func save(
        _ checkpoint: Checkpoint, replacing previous: UUID?
    ) async throws(RequestError) -> Bool

    /// Removes the checkpoint of a chain; does nothing if there is none.
    func removeCheckpoint(of chain: String) async throws(RequestError)

    /// The names of the chains that have a checkpoint, in any order.
    ///
    /// A program uses it after its start to continue these chains.
    func unfinishedChains() async throws(RequestError) -> [String]
}

/// Why a chain cannot use its checkpoint: the underlying error of a ``RequestError/Code/chainFailed``.
public enum CheckpointProblem: Error, Sendable, Hashable {
    /// The chain of the checkpoint had other steps; the number of the first step that differs, beginning with 1.
    case changedDefinition(step: Int)
    /// The output of a step cannot be decoded, or there are more outputs than steps.
    case unreadableOutput(step: Int)
    /// Another run of a chain of this name has changed the checkpoint.
    case changedByAnotherRun
}
