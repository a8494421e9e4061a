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

extension ChainLink where Last: TypedRequest {
    /// Adds a step that creates the next member from the previous one and its output.
    ///
    ///     chain.add(CreateIssue(title: "Lamp")).then { _, issue in GetIssue(number: issue.number) }
    ///
    /// Otherwise it is like `then(_:)` with one parameter. The chain fails with ``RequestError/Code/chainFailed`` if
    /// there is no output: after ``ChainRequest/Recovery/proceed``.
    @discardableResult
    nonisolated public func then<Next: ChainMember>(
        _ make: @escaping (Last, Last.Output) throws -> Next?
    ) -> ChainLink<Next> {
        then { last in
            guard let output = last.output else {
                throw RequestError(
                    .chainFailed, stage: .build,
                    "The step requires the output of the \(Last.self) before it, which failed. Use the closure "
                        + "of then(_:) with one parameter for steps that can follow a failure.")
            }
            return try make(last, output)
        }
    }
}
