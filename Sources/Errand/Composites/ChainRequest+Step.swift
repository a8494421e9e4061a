public import ErrandCore

extension ChainRequest {
    /// A step of a chain: refers to its member and output after the step has run.
    ///
    ///     let user = chain.add(GetUser(id: 7))
    ///     let orders = chain.add { GetOrders(of: try user.output.id) }
    ///     chain.add { Report(name: try user.output.name, orders: try orders.output) }
    ///
    /// The step does not keep the chain alive. A step belongs to one chain.
    nonisolated public struct Step<Member: RequestUnit> {
        let record: ChainStep

        /// Creates a step of a member, to be added to a chain.
        ///
        /// - Parameters:
        ///   - member: The request, batch, chain or graph.
        ///   - name: The name of the step in errors. Default `nil`: its number and its endpoint.
        public init(
            _ member: Member, named name: String? = nil
        ) {
            record = ChainStep(name: name) { member }
        }

        /// Creates a step whose member is made when the step is reached.
        ///
        /// - Parameters:
        ///   - name: The name of the step in errors. Default `nil`: its number and its endpoint.
        ///   - make: Called on the chain's actor, in a Swift task that the cancellation of the chain and its
        ///     ``CompositeRequest/deadline`` cancel. If it throws, the chain fails; if it returns `nil`, the chain ends
        ///     successfully.
        public init(
            named name: String? = nil,
            _ make: @escaping () async throws -> Member?
        ) where Member: Startable {
            record = ChainStep(name: name, make: make)
        }

        package init(_ record: ChainStep) { self.record = record }

        /// The member of the last run; `nil` if the step was not reached, was skipped, was restored from a checkpoint
        /// or was replaced by a request of another type.
        public var member: Member? { record.member as? Member }

        /// Adds a step that creates the next member (a request, a batch, a chain or a graph) from the member of this
        /// one after its success, or after ``ChainRequest/Recovery/proceed``.
        ///
        /// The step is added at the end of the chain. If the chain was released, nothing is added.
        ///
        /// - Parameters:
        ///   - name: The name of the step in errors. Default `nil`: its number and its endpoint.
        ///   - make: Called on the chain's actor. If it throws, the chain fails; if it returns `nil`, the chain ends
        ///     successfully.
        @discardableResult
        public func then<Next: Startable>(
            named name: String? = nil,
            _ make: @escaping (Member) async throws -> Next?
        ) -> Step<Next> {
            append(named: name) { last in try await make(last.requiredMember) }
        }

        /// Sets a condition, which is called when the step is reached, on the chain's actor; `false` skips the step.
        ///
        /// Default: the step runs. If the condition throws, the chain fails.
        @discardableResult
        public func onlyIf(_ condition: @escaping () async throws -> Bool) -> Self {
            record.condition = condition
            return self
        }

        /// Sets a closure that gives a replacement for the failed member of this step.
        ///
        /// It is called before the closure of ``ChainRequest/recover(_:)``, which decides if this one returns `nil`.
        /// It is called once: a step is replaced at most once in a run, and the closure of the chain decides about a
        /// replacement that fails. If it throws, the chain fails. It is not called if the chain was cancelled; the
        /// cancellation of the chain and its ``CompositeRequest/deadline`` cancel the Swift task that calls it.
        @discardableResult
        public func recover(
            byRequest replace: @escaping (RequestError) async throws -> Member?
        ) -> Self {
            record.recover = { try await replace($0).map { .member($0) } }
            return self
        }

        /// The member of the last run, or the error of a step that requires it.
        var requiredMember: Member {
            get throws(RequestError) {
                if let member { return member }
                throw RequestError(
                    .chainFailed, stage: .build,
                    "The step requires a \(Member.self) before it, which did not run.")
            }
        }

        /// Adds a step after this one that reads it.
        func append<Next: RequestUnit>(
            named name: String?,
            _ make: @escaping (Step<Member>) async throws -> Next?
        ) -> Step<Next> {
            // The chain owns both steps; the later one does not own the earlier one, so that a long chain is
            // released without a recursion.
            let next = ChainStep(name: name, readsMember: true) {
                [weak record] () async throws -> Next? in
                guard let record else { return nil }
                return try await make(Step(record))
            }
            if let chain = record.chain {
                chain.append(next)
            } else if !record.isAdded {
                record.following.append(next)
            }
            return Step<Next>(next)
        }
    }
}

extension ChainRequest.Step where Member: TypedUnit {
    /// The output of the step in the last run, or the value that took its place.
    ///
    /// Throws ``RequestError/Code/chainFailed`` if there is none: the step was not reached, was skipped or failed.
    nonisolated public var output: Member.Output {
        get throws(RequestError) {
            if let value = record.value as? Member.Output { return value }
            if let output = member?.output { return output }
            if record.isRestored {
                throw RequestError(
                    .chainFailed, stage: .build,
                    "The step requires the output of the \(Member.self) before it, which is not in the checkpoint of "
                        + "the chain. Make \(Member.Output.self) Codable.")
            }
            throw RequestError(
                .chainFailed, stage: .build,
                "The step requires the output of the \(Member.self) before it, which was not reached, was skipped or "
                    + "failed. Use the closure of then(_:) with one parameter for steps that can follow a failure."
            )
        }
    }

    /// Adds a step that creates the next member from the member of this one and its output.
    ///
    ///     chain.add(CreateIssue(title: "Lamp")).then { _, issue in GetIssue(number: issue.number) }
    ///
    /// Otherwise it is like `then(named:_:)` with one parameter. The chain fails with
    /// ``RequestError/Code/chainFailed`` if there is no output: after ``ChainRequest/Recovery/proceed``.
    @discardableResult
    nonisolated public func then<Next: Startable>(
        named name: String? = nil,
        _ make: @escaping (Member, Member.Output) async throws -> Next?
    ) -> ChainRequest.Step<Next> {
        append(named: name) { last in
            try await make(last.requiredMember, last.output)
        }
    }

    /// Sets a closure that gives a value in place of the output of a failed member; the chain continues.
    ///
    /// It is called before the closure of ``ChainRequest/recover(_:)``, which decides if this one returns `nil`. If it
    /// throws, the chain fails. It is not called if the chain was cancelled.
    @discardableResult
    nonisolated public func recover(
        byValue replace: @escaping (RequestError) async throws -> Member.Output?
    ) -> Self {
        record.recover = { try await replace($0).map { .value($0) } }
        return self
    }
}
