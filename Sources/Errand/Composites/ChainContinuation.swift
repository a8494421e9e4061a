import ErrandCore

/// Continues a chain after the steps that an earlier run has finished.
nonisolated package protocol ChainContinuation: Sendable {
    /// The checkpoints of one run.
    func checkpoints(of chain: String, _ steps: [ChainStep]) -> any ChainCheckpoints
}

/// The checkpoints of one run of a chain.
nonisolated package protocol ChainCheckpoints {
    /// Restores the outputs of the steps that have finished in an earlier run; returns the number of these steps.
    mutating func restore() async throws(RequestError) -> Int
    /// Saves the output of the step that has finished.
    mutating func save() async throws(RequestError)
    /// Removes the checkpoint after the success of the chain.
    func remove() async throws(RequestError)
}
