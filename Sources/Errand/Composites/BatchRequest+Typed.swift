public import ErrandCore

extension BatchRequest {
    /// A batch whose members have typed outputs.
    ///
    ///     let batch = BatchRequest.Typed(GetUser(id: 1), GetOrders(), maxConcurrent: 1)
    ///     let (user, orders) = try await batch.values()
    ///     let users = try await BatchRequest.Typed([GetUser(id: 1), GetUser(id: 2)]).values()
    ///     let byName = try await BatchRequest.Typed(["a": GetUser(id: 1)]).values()
    ///
    /// Policy, limit, deadline, accessories, progress and ways to start are those of ``BatchRequest``. The type of
    /// ``values(onStart:)`` is a tuple, an array or a dictionary of outputs, that of ``results(onStart:)`` the same of
    /// `Result`s.
    public final class Typed<Values: Sendable, Results: Sendable>: BatchRequest,
        BaseRequest.TypedMember
    {
        /// Reads the outputs of the members; the argument returns the error of a member by its index.
        private let readValues: () throws(RequestError) -> Values
        private let readResults: ((Int) -> RequestError?) -> Results

        init(
            _ members: [any CompositeMember], _ policy: Policy, _ maxConcurrent: Int?,
            keys: [any Hashable & Sendable] = [],
            values: @escaping () throws(RequestError) -> Values,
            results: @escaping ((Int) -> RequestError?) -> Results
        ) {
            readValues = values
            readResults = results
            super.init(members: members, policy: policy, maxConcurrent: maxConcurrent, keys: keys)
        }

        override var fixedMembers: RequestError? {
            .invalidCombination(
                "A member was added to a typed batch, whose output has the members of its initializer. Create it with all "
                    + "members, or use a BatchRequest without types.")
        }

        /// The outputs of the last run; `nil` before it, and if a member has none.
        public var output: Values? {
            guard hasSucceeded else { return nil }
            return try? readValues()
        }

        /// The result of each member in the last run: its output or its error.
        public var memberResults: Results { readResults { self.memberErrors[$0] } }

        /// The outputs after a run with this error, or the error of the first member without one.
        func outputs(_ error: RequestError?) -> Result<Values, RequestError> {
            if let error { return .failure(error) }
            if let error = memberErrors.lazy.compactMap({ $0 }).first { return .failure(error) }
            do throws(RequestError) {
                return .success(try readValues())
            } catch {
                return .failure(error)
            }
        }

        /// The results of the members after a run with this error.
        func allResults(_ error: RequestError?) -> Result<Results, RequestError> {
            error.map { .failure($0) } ?? .success(memberResults)
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
    public convenience init<each Member: BaseRequest.TypedMember>(
        _ members: repeat each Member, policy: BatchRequest.Policy = .failFast,
        maxConcurrent: Int? = nil
    )
    where
        Values == (repeat (each Member).Output),
        Results == (repeat Result<(each Member).Output, RequestError>)
    {
        var all: [any CompositeMember] = []
        repeat all.append(each members)
        self.init(all, policy, maxConcurrent) { () throws(RequestError) in
            (repeat try BatchRequest.output(of: each members))
        } results: { error in
            var index = 0
            func result<One: BaseRequest.TypedMember>(
                _ member: One
            ) -> Result<One.Output, RequestError> {
                defer { index += 1 }
                return BatchRequest.result(of: member, error(index))
            }
            return (repeat result(each members))
        }
    }

    /// Creates a batch of members of one type.
    ///
    /// - Parameters:
    ///   - members: The members.
    ///   - policy: The effect of a member's end on the batch.
    ///   - maxConcurrent: The maximum number of members in progress at the same time, at least 1; `nil` is no limit.
    public convenience init<Member: BaseRequest.TypedMember>(
        _ members: [Member], policy: BatchRequest.Policy = .failFast, maxConcurrent: Int? = nil
    ) where Values == [Member.Output], Results == [Result<Member.Output, RequestError>] {
        self.init(members, policy, maxConcurrent) { () throws(RequestError) in
            var values: [Member.Output] = []
            values.reserveCapacity(members.count)
            for member in members { values.append(try BatchRequest.output(of: member)) }
            return values
        } results: { error in
            members.enumerated().map { BatchRequest.result(of: $1, error($0)) }
        }
    }

    /// Creates a batch of members of one type with keys; they start in no particular order.
    ///
    /// - Parameters:
    ///   - members: The members.
    ///   - policy: The effect of a member's end on the batch.
    ///   - maxConcurrent: The maximum number of members in progress at the same time, at least 1; `nil` is no limit.
    public convenience init<Key: Hashable & Sendable, Member: BaseRequest.TypedMember>(
        _ members: [Key: Member], policy: BatchRequest.Policy = .failFast, maxConcurrent: Int? = nil
    ) where Values == [Key: Member.Output], Results == [Key: Result<Member.Output, RequestError>] {
        let pairs = Array(members)
        self.init(pairs.map(\.value), policy, maxConcurrent, keys: pairs.map(\.key)) {
            () throws(RequestError) in
            var values: [Key: Member.Output] = [:]
            for (key, member) in pairs { values[key] = try BatchRequest.output(of: member) }
            return values
        } results: { error in
            var results: [Key: Result<Member.Output, RequestError>] = [:]
            for (index, pair) in pairs.enumerated() {
                results[pair.key] = BatchRequest.result(of: pair.value, error(index))
            }
            return results
        }
    }
}

extension BatchRequest {
    nonisolated fileprivate static func output<Member: BaseRequest.TypedMember>(
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

    nonisolated fileprivate static func result<Member: BaseRequest.TypedMember>(
        of member: Member, _ error: RequestError?
    ) -> Result<Member.Output, RequestError> {
        if let error { return .failure(error) }
        do throws(RequestError) {
            return .success(try output(of: member))
        } catch {
            return .failure(error)
        }
    }
}
