public import ErrandCore
public import ErrandSystem
import Synchronization

/// Stores checkpoints in memory: for tests, and for chains that are repeated by the same process.
public final class MemoryCheckpointStore: CheckpointStore {
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
