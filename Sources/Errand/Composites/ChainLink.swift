/// The end of a chain under construction, with the type of its last member.
nonisolated public struct ChainLink<Last: ChainMember> {
    /// The chain.
    public let chain: ChainRequest

    /// Adds a step that makes the next member, a request, a batch or a chain, from the one before, once that has
    /// succeeded.
    ///
    /// What it throws fails the chain; returning `nil` ends it successfully.
    @discardableResult
    public func then<Next: ChainMember>(
        _ make: @escaping (Last) throws -> Next?
    ) -> ChainLink<Next> {
        let chain = chain
        chain.append { [unowned chain] previous in
            guard let last = previous as? Last else {
                throw RequestError(
                    .chainFailed, stage: .build,
                    "The step expects a \(Last.self) before it, which did not run.")
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
