public import ErrandCore

extension ChainRequest {
    /// A chain with an output: that of one of its steps, or the argument of ``finish(with:)``.
    ///
    ///     let chain = ChainRequest.Typed<[Order]> { chain in
    ///         let user = chain.add(GetUser(id: 7))
    ///         return chain.add { GetOrders(of: try user.output.id) }
    ///     }
    ///     let orders = try await chain.value()
    nonisolated public final class Typed<Output: Sendable>: ChainRequest, BaseRequest.TypedMember {
        private var read: () throws(RequestError) -> Output
        private var given: Output?

        /// Creates a chain.
        ///
        /// - Parameter build: Adds the steps to the chain and returns the one with the output of the chain. A step
        ///   closure that uses the chain must capture it weakly or unowned.
        public init<Member: BaseRequest.TypedMember>(
            _ build: (Typed<Output>) throws -> Step<Member>
        ) rethrows where Member.Output == Output {
            read = { () throws(RequestError) in throw .cancelled }
            super.init()
            let step = try build(self)
            read = { () throws(RequestError) in try step.output }
        }

        /// Ends the chain successfully after the current member, with this output; the remaining steps are skipped.
        public func finish(with output: Output) {
            given = output
            finish()
        }

        /// The output of the last run; `nil` before it, and after a failure.
        public var output: Output? { hasSucceeded ? given ?? (try? read()) : nil }

        /// Runs the chain and returns its output, on the caller's actor.
        ///
        /// - Parameter onStart: Called with the task before the first member starts. Default: does nothing.
        /// - Throws: An error of ``ChainRequest/send(onStart:)``; ``RequestError/Code/chainFailed`` if the step with the
        ///   output did not succeed, for example after ``ChainRequest/finish()``.
        nonisolated(nonsending) public func value(
            onStart: (CompositeTask) -> Void = { _ in }
        ) async throws(RequestError) -> Output {
            try await value(on: nil, onStart: onStart)
        }

        nonisolated(nonsending) func value(
            on agent: RequestAgent?, onStart: (CompositeTask) -> Void
        ) async throws(RequestError) -> Output {
            _ = try await perform(on: agent, onStart: onStart)
            return try outcome(nil).get()
        }

        /// The output after a run with this error.
        func outcome(_ error: RequestError?) -> Result<Output, RequestError> {
            if let error { return .failure(error) }
            if let given { return .success(given) }
            do throws(RequestError) {
                return .success(try read())
            } catch {
                return .failure(error)
            }
        }

        override func forget() { given = nil }
    }

    /// Runs the chain and returns the output of a step, on the caller's actor.
    ///
    /// - Parameters:
    ///   - step: A step of the chain.
    ///   - onStart: Called with the task before the first member starts. Default: does nothing.
    /// - Throws: An error of ``send(onStart:)``; ``RequestError/Code/chainFailed`` if the step did not succeed.
    nonisolated(nonsending) public func value<Member: BaseRequest.TypedMember>(
        of step: Step<Member>, onStart: (CompositeTask) -> Void = { _ in }
    ) async throws(RequestError) -> Member.Output {
        _ = try await perform(on: nil, onStart: onStart)
        return try step.output
    }
}
