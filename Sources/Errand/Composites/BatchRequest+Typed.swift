public import ErrandCore

extension BatchRequest {
    /// A batch whose members have typed outputs.
    ///
    ///     let (user, orders) = try await BatchRequest.Typed(GetUser(id: 1), GetOrders()).value()
    ///     let users = try await BatchRequest.Typed([GetUser(id: 1), GetUser(id: 2)], maxConcurrent: 1).value()
    ///     let byName = try await BatchRequest.Typed(["a": GetUser(id: 1)]).value()
    ///
    /// Policy, limit, deadline, accessories, progress and ways to start are those of ``BatchRequest``. The output is a
    /// tuple, an array or a dictionary of the members' outputs. If a batch succeeds by its policy although a member has no
    /// output, its ``outputResult`` is the error of that member: with such a policy, run the batch with `send()` and read
    /// the ``TypedUnit/outputResult`` of each member.
    public final class Typed<Output: Sendable>: BatchRequest, TypedUnit {
        /// Reads the outputs of the members.
        private let read: () throws(RequestError) -> Output

        init(
            _ members: [RequestUnit], _ policy: Policy, _ maxConcurrent: Int?,
            keys: [any Hashable & Sendable] = [], read: @escaping () throws(RequestError) -> Output
        ) {
            self.read = read
            super.init(members: members, policy: policy, maxConcurrent: maxConcurrent, keys: keys)
        }

        override var fixedMembers: RequestError? {
            .invalidCombination(
                "A member was added to a typed batch, whose output has the members of its initializer. Create it with all "
                    + "members, or use a BatchRequest without types.")
        }

        /// The outputs of the last run; `nil` before it, and if a member has none.
        public var output: Output? { try? outputResult?.get() }

        /// The outputs of the last run, or the error of the run, or of the first member without an output; `nil` before
        /// it.
        public var outputResult: Result<Output, RequestError>? {
            if let error { return .failure(error) }
            guard hasSucceeded else { return nil }
            if let error = memberErrors.lazy.compactMap({ $0 }).first { return .failure(error) }
            do throws(RequestError) {
                return .success(try read())
            } catch {
                return .failure(error)
            }
        }
    }
}

extension BatchRequest.Typed {
    /// Creates a batch of members with outputs of any types.
    ///
    /// - Parameters:
    ///   - members: The members.
    ///   - policy: The effect of a member's end on the batch.
    ///   - maxConcurrent: The maximum number of members in progress at the same time, at least 1; `nil` is no limit.
    public convenience init<each Member: TypedUnit>(
        _ members: repeat each Member, policy: BatchRequest.Policy = .failFast,
        maxConcurrent: Int? = nil
    ) where Output == (repeat (each Member).Output) {
        var all: [RequestUnit] = []
        repeat all.append(each members)
        self.init(all, policy, maxConcurrent) { () throws(RequestError) in
            (repeat try BatchRequest.output(of: each members))
        }
    }

    /// Creates a batch of members of one type.
    ///
    /// - Parameters:
    ///   - members: The members.
    ///   - policy: The effect of a member's end on the batch.
    ///   - maxConcurrent: The maximum number of members in progress at the same time, at least 1; `nil` is no limit.
    public convenience init<Member: TypedUnit>(
        _ members: [Member], policy: BatchRequest.Policy = .failFast, maxConcurrent: Int? = nil
    ) where Output == [Member.Output] {
        self.init(members, policy, maxConcurrent) { () throws(RequestError) in
            var values: [Member.Output] = []
            values.reserveCapacity(members.count)
            for member in members { values.append(try BatchRequest.output(of: member)) }
            return values
        }
    }

    /// Creates a batch of members of one type with keys; they start in no particular order.
    ///
    /// - Parameters:
    ///   - members: The members.
    ///   - policy: The effect of a member's end on the batch.
    ///   - maxConcurrent: The maximum number of members in progress at the same time, at least 1; `nil` is no limit.
    public convenience init<Key: Hashable & Sendable, Member: TypedUnit>(
        _ members: [Key: Member], policy: BatchRequest.Policy = .failFast, maxConcurrent: Int? = nil
    ) where Output == [Key: Member.Output] {
        let pairs = Array(members)
        self.init(pairs.map(\.value), policy, maxConcurrent, keys: pairs.map(\.key)) {
            () throws(RequestError) in
            var values: [Key: Member.Output] = [:]
            for (key, member) in pairs { values[key] = try BatchRequest.output(of: member) }
            return values
        }
    }
}

extension BatchRequest {
    nonisolated fileprivate static func output<Member: TypedUnit>(
        of member: Member
    ) throws(RequestError) -> Member.Output {
        guard let output = member.output else {
            throw RequestError(
                .batchFailed, stage: .decode,
                "A batch member has no output of type \(Member.Output.self). Do not start a member elsewhere "
                    + "while the batch runs.")
        }
        return output
    }
}
