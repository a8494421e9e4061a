/// The last member of a chain under construction, to which the next step is added.
nonisolated public struct ChainLink<Last: ChainMember> {
    /// The chain.
    public let chain: ChainRequest

    /// Adds a step that creates the next member (a request, a batch or a chain) from the previous
    /// one after its success, or after ``ChainRequest/Recovery/proceed``.
    ///
    /// If the closure throws, the chain fails; if it returns `nil`, the chain ends successfully.
    @discardableResult
    public func then<Next: ChainMember>(
        _ make: @escaping (Last) throws -> Next?
    ) -> ChainLink<Next> {
        let chain = chain
        chain.append { [unowned chain] previous in
            guard let last = previous as? Last else {
                throw RequestError(
                    .chainFailed, stage: .build,
                    "The step requires a \(Last.self) before it, which did not run.")
            }
            guard let next = try make(last) else {
                chain.finish()
                return nil
            }
            return next
        }
        return ChainLink<Next>(chain: chain)
    }
}
