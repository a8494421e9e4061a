public import ErrandCore

extension ChainRequest {
    /// A chain with an output: that of one of its steps, or the argument of ``finish(with:)``.
    ///
    ///     let chain = ChainRequest.Typed<[Order]> { chain in
    ///         let user = chain.add(GetUser(id: 7))
    ///         return chain.add { GetOrders(of: try user.output.id) }
    ///     }
    ///     let orders = try await chain.value()
    nonisolated public final class Typed<Output: Sendable>: ChainRequest, TypedUnit {
        private var read: () throws(RequestError) -> Output
        private var given: Output?

        /// Creates a chain.
        ///
        /// - Parameter build: Adds the steps to the chain and returns the one with the output of the chain. A step
        ///   closure that uses the chain must capture it weakly or unowned.
        public init<Member: TypedUnit>(
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
        public var output: Output? { try? outputResult?.get() }

        /// The output or the error of the last run, or that of the step with the output; `nil` before it.
        public var outputResult: Result<Output, RequestError>? {
            if let error { return .failure(error) }
            guard hasSucceeded else { return nil }
            if let given { return .success(given) }
            do throws(RequestError) {
                return .success(try read())
            } catch {
                return .failure(error)
            }
        }

        override func forget() { given = nil }
    }
}
