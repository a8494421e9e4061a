public import Errand
import ErrandCore

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
}
