public import Errand
import ErrandCore
public import Foundation
import Synchronization

extension ChainRequest {
    /// The store for the outputs of finished steps, with which a later run continues, also in another process.
    ///
    /// Default `nil`: each run starts with the first step. With a store, the chain needs a ``name``, and chains of one
    /// name run one after the other. Each output that is Codable is saved after its step, and a run continues after the
    /// last saved one: a step that was in progress when the process ended is run again, and so are the steps without a
    /// Codable output directly before it. A restored step has its `output` only; its callback and its condition are not
    /// called. The checkpoint is removed after the success of the chain, and kept after a failure or a cancellation.
    ///
    /// Errors: ``RequestError/Code/invalidConfiguration`` without a name; ``RequestError/Code/invalidCombination`` if a
    /// step was created by `then`, or is added during the run; ``RequestError/Code/chainFailed`` with a
    /// ``CheckpointProblem``; ``RequestError/Code/storeFailed``.
    nonisolated public var checkpointStore: (any CheckpointStore)? {
        get { (continuation as? StoredContinuation)?.store }
        set { continuation = newValue.map { StoredContinuation(store: $0) } }
    }

    nonisolated private struct StoredContinuation: ChainContinuation {
        let store: any CheckpointStore

        func checkpoints(of chain: String, _ steps: [ChainStep]) -> any ChainCheckpoints {
            StoredCheckpoints(of: chain, in: store, steps)
        }
    }

    /// The finished steps of a named chain, from which a later run continues.
    nonisolated public struct Checkpoint: Sendable, Hashable, Codable {
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
        public init(chain: String, revision: UUID = UUID(), definition: [String], outputs: [Data?])
        {
            self.chain = chain
            self.revision = revision
            self.definition = definition
            self.outputs = outputs
        }
    }

    /// Stores one checkpoint for each named chain.
    ///
    /// Each method is atomic: after a crash, a chain has its previous checkpoint or the new one. A change whose
    /// method has returned without an error is durable, as far as the store is. Errors:
    /// ``RequestError/Code/storeFailed``. The methods are called on no actor.
    nonisolated public protocol CheckpointStore: Sendable {
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
    nonisolated public enum CheckpointProblem: Error, Sendable, Hashable {
        /// The chain of the checkpoint had other steps; the number of the first step that differs, beginning with 1.
        case changedDefinition(step: Int)
        /// The output of a step cannot be decoded, or there are more outputs than steps.
        case unreadableOutput(step: Int)
        /// Another run of a chain of this name has changed the checkpoint.
        case changedByAnotherRun
    }

    /// Stores checkpoints in memory: for tests, and for chains that are repeated by the same process.
    nonisolated public final class MemoryCheckpointStore: CheckpointStore {
        private let checkpoints = Mutex<[String: Checkpoint]>([:])

        /// Creates an empty store.
        public init() {}

        /// The checkpoint of a chain; `nil` if there is none.
        public func checkpoint(of chain: String) async throws(RequestError) -> Checkpoint? {
            checkpoints.withLock { $0[chain] }
        }

        /// Stores a checkpoint in place of the previous one of its chain.
        ///
        /// - Returns: `false`, without a change, if the store has another checkpoint than the previous one.
        public func save(
            _ checkpoint: Checkpoint, replacing previous: UUID?
        ) async throws(RequestError) -> Bool {
            checkpoints.withLock { checkpoints in
                guard checkpoints[checkpoint.chain]?.revision == previous else { return false }
                checkpoints[checkpoint.chain] = checkpoint
                return true
            }
        }

        /// Removes the checkpoint of a chain; does nothing if there is none.
        public func removeCheckpoint(of chain: String) async throws(RequestError) {
            checkpoints.withLock { $0[chain] = nil }
        }

        /// The names of the chains that have a checkpoint, in any order.
        public func unfinishedChains() async throws(RequestError) -> [String] {
            checkpoints.withLock { Array($0.keys) }
        }
    }
}
