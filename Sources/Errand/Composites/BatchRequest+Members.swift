public import ErrandCore
import Synchronization

nonisolated extension BatchRequest {
    /// The members of one run as they end, each after its hooks were called, in the order of their ends.
    ///
    ///     let task = batch.start()
    ///     for await member in batch.members { show(member.index, try? member.value(as: User.self)) }
    ///
    /// The run is the one in progress, otherwise the last one, and before the first run the next one. A reader first
    /// gets the members that have ended already. The sequence ends with the run, before the closures of the batch are
    /// called; it has all members by then, also those that were cancelled or not started. In a run that
    /// ``repeatsOnlyFailures`` it has the members that this run repeats. If the run is refused, or the batch is
    /// released without a run, it has none.
    ///
    /// There can be several readers; each gets all members. Leaving the loop, and cancelling the reader, have no effect
    /// on the batch. The sequence holds each ended member once, not the batch.
    public var members: EndedMembers {
        if let feed { return EndedMembers(feed: feed) }
        let feed = EndedMembers.Feed()
        for index in ended {
            if let result = found[index] { feed.add(endedMember(index, result)) }
        }
        if task == nil, hasRun { feed.finish() }
        self.feed = feed
        return EndedMembers(feed: feed)
    }

    func endedMember(_ index: Int, _ result: Result<Response?, RequestError>) -> EndedMember {
        let (member, key) = (items[index], keys.isEmpty ? nil : keys[index])
        switch result {
        case .failure(let error):
            return EndedMember(
                index: index, key: key, response: error.response, error: error, output: nil)
        case .success(let response):
            return EndedMember(
                index: index, key: key, response: response, error: nil, output: member.anyOutput)
        }
    }

    /// The end of a member of a batch.
    nonisolated public struct EndedMember: Sendable {
        /// The index of the member in the batch.
        public let index: Int
        /// The key of the member, if the batch was made from a dictionary.
        public let key: (any Hashable & Sendable)?
        /// The response of a request; `nil` after a failure without a response, and for a nested batch or chain.
        public let response: Response?
        /// The error of a member that failed, was cancelled or was not started; `nil` after a success.
        public let error: RequestError?
        let output: (any Sendable)?

        /// The output of the member, or, as `Response`, its response.
        ///
        /// - Throws: The error of the member; ``RequestError/Code/undecodable`` if it has no output of this type.
        public func value<Output>(
            as type: Output.Type = Output.self
        ) throws(RequestError) -> Output {
            if let error { throw error }
            if let output, let value = output as? Output { return value }
            if let response = response as? Output { return response }
            throw RequestError(
                .undecodable, stage: .decode,
                "The member \(index) of the batch has no output of type \(Output.self). Read it with its own type.",
                response: response)
        }
    }

    /// The members of one run of a batch, in the order of their ends.
    nonisolated public struct EndedMembers: AsyncSequence, Sendable {
        let feed: Feed

        /// Returns an iterator that begins with the first member that has ended.
        public func makeAsyncIterator() -> Iterator { Iterator(feed: feed) }

        /// Waits for the ends of members.
        public struct Iterator: AsyncIteratorProtocol {
            let feed: Feed
            private var position = 0

            init(feed: Feed) { self.feed = feed }

            /// The next member that ends; `nil` after the end of the run, and if the calling Swift task is cancelled.
            public mutating func next() async -> EndedMember? {
                let member = await feed.member(at: position)
                position += 1
                return member
            }
        }
    }
}

nonisolated extension BatchRequest.EndedMembers {
    /// The ended members of one run, which any number of readers wait for.
    nonisolated final class Feed: Sendable {
        private struct State {
            var members: [BatchRequest.EndedMember] = []
            var isFinished = false
            var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
            var lastWaiter = 0
        }

        private let state = Mutex(State())

        var isFinished: Bool { state.withLock { $0.isFinished } }

        func add(_ member: BatchRequest.EndedMember) {
            wake { $0.members.append(member) }
        }

        /// Ends the sequence; later calls have no effect.
        func finish() { wake { $0.isFinished = true } }

        private func wake(_ change: (inout State) -> Void) {
            let waiters = state.withLock { state in
                guard !state.isFinished else { return [CheckedContinuation<Void, Never>]() }
                change(&state)
                defer { state.waiters = [:] }
                return Array(state.waiters.values)
            }
            for waiter in waiters { waiter.resume() }
        }

        /// Waits until so many members have ended; `nil` if the run ends first or the calling Swift task is cancelled.
        func member(at position: Int) async -> BatchRequest.EndedMember? {
            let id = state.withLock { state in
                state.lastWaiter += 1
                return state.lastWaiter
            }
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let waits = state.withLock { state in
                        guard position >= state.members.count, !state.isFinished,
                            // Read with the lock: a cancellation after this finds the waiter.
                            !Task.isCancelled
                        else { return false }
                        state.waiters[id] = continuation
                        return true
                    }
                    if !waits { continuation.resume() }
                }
            } onCancel: {
                state.withLock { $0.waiters.removeValue(forKey: id) }?.resume()
            }
            return state.withLock { state in
                position < state.members.count && !Task.isCancelled ? state.members[position] : nil
            }
        }
    }
}

extension RequestUnit {
    /// The output of the last run of a member with a typed output.
    nonisolated var anyOutput: (any Sendable)? {
        if let request = self as? BaseRequest { return request.storedOutput?.value }
        return (self as? any TypedUnit)?.output
    }
}
