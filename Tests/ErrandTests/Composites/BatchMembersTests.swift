import ErrandTesting
import TestSupport
import Testing

@testable import Errand

/// `members` of a batch: its members as they end.
@Suite(.limited) @MainActor struct BatchMembersTests {
    private let fixture = CompositeFixture()

    /// Holds the responses to `/0`, `/1` and so on until their gates open.
    private func hold(_ count: Int) -> [Gate] {
        let gates = (0..<count).map { _ in Gate() }
        fixture.transport.respond { request in
            let index = Int(request.url.path.dropFirst()) ?? 0
            return ScriptedResponse.json(#"{"n":\#(index)}"#).held(by: gates[index])
        }
        return gates
    }

    private func indices(_ members: BatchRequest.EndedMembers) async -> [Int] {
        var indices: [Int] = []
        for await member in members { indices.append(member.index) }
        return indices
    }

    @Test func membersAreYieldedInTheOrderOfTheirEnds() async throws {
        let gates = hold(3)
        let batch = BatchRequest((0..<3).map { fixture.plain("\($0)") })
        let members = batch.members
        let work = Task { try await batch.send() }
        var iterator = members.makeAsyncIterator()
        for index in [2, 0, 1] {
            try await gates[index].reached()
            gates[index].open()
            let member = await iterator.next()
            #expect(member?.index == index && member?.error == nil && member?.key == nil)
            #expect(try member?.value(as: Response.self).json["n"].int == index)
            #expect(batch.requests[index].response != nil)
        }
        #expect(await iterator.next() == nil)
        _ = try await work.value
    }

    @Test func readerDuringTheRunGetsTheMembersThatHaveEndedFirst() async throws {
        let gates = hold(3)
        let batch = BatchRequest((0..<3).map { fixture.plain("\($0)") })
        let first = batch.members
        let work = Task { try await batch.send() }
        var early = first.makeAsyncIterator()
        gates[1].open()
        #expect(await early.next()?.index == 1)
        // A second reader and a second sequence begin with the first member, too.
        var late = batch.members.makeAsyncIterator()
        var again = first.makeAsyncIterator()
        #expect(await late.next()?.index == 1)
        #expect(await again.next()?.index == 1)
        gates[0].open()
        #expect(await late.next()?.index == 0)
        gates[2].open()
        _ = try await work.value
        #expect(await late.next()?.index == 2)
        #expect(await late.next() == nil)
        #expect(await early.next()?.index == 0)
    }

    @Test func sequenceThatIsFirstReadDuringTheRunHasAllMembers() async throws {
        let gates = hold(2)
        let batch = BatchRequest((0..<2).map { fixture.plain("\($0)") })
        let hasEnded = Gate()
        batch.requests[1].attach { _ in hasEnded.open() }
        let work = Task { try await batch.send() }
        gates[1].open()
        try await hasEnded.passed()
        var iterator = batch.members.makeAsyncIterator()
        #expect(await iterator.next()?.index == 1)
        gates[0].open()
        #expect(await iterator.next()?.index == 0)
        #expect(await iterator.next() == nil)
        _ = try await work.value
    }

    @Test func sequenceAfterTheRunHasTheMembersOfTheLastRun() async throws {
        let batch = BatchRequest(["a", "bad", "c"].map(fixture.plain), policy: .collectAll)
        batch.requests[0].accessories = []
        try await batch.send()
        let all = await indices(batch.members)
        #expect(all.sorted() == [0, 1, 2])
        var codes: [RequestError.Code?] = [nil, nil, nil]
        for await member in batch.members { codes[member.index] = member.error?.code }
        #expect(codes == [nil, .unacceptableStatus, nil])
        try await batch.send()
        #expect(await indices(batch.members).count == 3)
    }

    @Test func sequenceOfASecondRunDoesNotHaveTheMembersOfTheFirst() async throws {
        let batch = BatchRequest([fixture.plain("a")])
        let first = batch.members
        try await batch.send()
        var second: BatchRequest.EndedMembers?
        try await batch.send { _ in second = batch.members }
        #expect(await indices(first) == [0])
        #expect(await indices(try #require(second)) == [0])
    }

    @Test func retryYieldsTheMembersThatItRepeats() async throws {
        let batch = BatchRequest(["a", "bad", "c"].map(fixture.plain), policy: .collectAll)
        try await batch.send()
        var members: BatchRequest.EndedMembers?
        batch.repeatsOnlyFailures = true
        try await batch.send { _ in members = batch.members }
        #expect(await indices(try #require(members)) == [1])
        #expect(await indices(batch.members) == [1])
    }

    @Test func membersThatWereNotStartedAreYieldedWithTheirErrors() async throws {
        let batch = BatchRequest(["bad", "b", "c"].map(fixture.plain), maxConcurrent: 1)
        let members = batch.members
        _ = await #expect(throws: RequestError.self) { try await batch.send() }
        var codes: [RequestError.Code?] = []
        for await member in members { codes.append(member.error?.code) }
        #expect(codes == [.unacceptableStatus, .cancelled, .cancelled])
    }

    @Test func leavingTheLoopAndCancellingTheReaderDoNotCancelTheBatch() async throws {
        let gates = hold(2)
        let batch = BatchRequest((0..<2).map { fixture.plain("\($0)") })
        let members = batch.members
        let work = Task { try await batch.send() }
        gates[0].open()
        for await _ in members { break }
        let isReading = Gate()
        let reader = Task {
            var count = 0
            for await _ in members {
                count += 1
                isReading.open()
            }
            return count
        }
        try await isReading.passed()
        reader.cancel()
        #expect(await reader.value == 1)
        gates[1].open()
        #expect(try await work.value.count == 2)
        #expect(await indices(members) == [0, 1])
    }

    @Test func cancelledReaderGetsNoMember() async throws {
        let batch = BatchRequest([fixture.plain("a")])
        try await batch.send()
        let members = batch.members
        let start = Gate()
        let reader = Task {
            try? await start.passed()
            var iterator = members.makeAsyncIterator()
            return await iterator.next().map(\.index) == nil
        }
        reader.cancel()
        start.open()
        #expect(await reader.value)
    }

    @Test func readerThatIsCancelledBeforeItWaitsEnds() async {
        let batch = BatchRequest([fixture.plain("a")])
        let members = batch.members
        let reader = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            var iterator = members.makeAsyncIterator()
            return await iterator.next().map(\.index) == nil
        }
        // The batch is not started, so only the cancellation ends the wait.
        #expect(await reader.value)
        withExtendedLifetime(batch) {}
    }

    @Test func refusedBatchEndsItsSequence() async throws {
        let quorum = BatchRequest([fixture.plain("a")], policy: .quorum(2))
        let request = fixture.plain("a")
        let twice = BatchRequest([request, request])
        let deadline = BatchRequest([fixture.plain("a")])
        deadline.deadline = .zero
        for batch in [quorum, twice, deadline] {
            let members = batch.members
            _ = await #expect(throws: RequestError.self) { try await batch.send() }
            #expect(await indices(members).isEmpty)
            #expect(await indices(batch.members).isEmpty)
        }
        // The members of a batch that is not started because another member is refused.
        let nested = BatchRequest([fixture.plain("b")])
        let members = nested.members
        let outer = BatchRequest([nested, quorum] as [RequestUnit])
        _ = await #expect(throws: RequestError.self) { try await outer.send() }
        #expect(await indices(members).isEmpty)
        try await nested.send()
        #expect(await indices(nested.members) == [0])
    }

    @Test func refusedSecondStartDoesNotEndTheSequence() async throws {
        let gates = hold(1)
        let batch = BatchRequest([fixture.plain("0")])
        let members = batch.members
        let work = Task { try await batch.send() }
        try await gates[0].reached()
        _ = await #expect(throws: RequestError.self) { try await batch.send() }
        gates[0].open()
        _ = try await work.value
        #expect(await indices(members) == [0])
    }

    @Test func sequenceOfAnEmptyBatchAndOfAReleasedBatchEnds() async throws {
        let empty = BatchRequest([])
        let members = empty.members
        try await empty.send()
        #expect(await indices(members).isEmpty)
        #expect(await indices(empty.members).isEmpty)
        var released: BatchRequest.EndedMembers?
        do { released = BatchRequest([fixture.plain("a")]).members }
        #expect(await indices(try #require(released)).isEmpty)
    }

    @Test func typedMembersHaveOutputsAndKeys() async throws {
        let batch = BatchRequest.Typed(
            ["a": fixture.user(1), "b": fixture.user(0)], policy: .collectAll)
        let members = batch.members
        try await batch.send()
        var nicks: [String: String] = [:]
        for await member in members {
            let key = try #require(member.key as? String)
            nicks[key] = try? member.value(as: User.self).nick
            let wrong = #expect(throws: RequestError.self) { try member.value(as: Int.self) }
            #expect(wrong?.code == (key == "a" ? .undecodable : .unacceptableStatus))
        }
        #expect(nicks == ["a": "1"])
    }

    @Test func nestedTypedMembersHaveTheirOutputs() async throws {
        let users = BatchRequest.Typed([fixture.user(1), fixture.user(2)])
        let chain = ChainRequest.Typed { $0.add(fixture.user(3)) }
        let batch = BatchRequest.Typed(users, chain, fixture.user(4), maxConcurrent: 1)
        var nicks: [String] = []
        _ = try await batch.value()
        for await member in batch.members {
            switch member.index {
            case 0: nicks += try member.value(as: [User].self).map(\.nick)
            default: nicks.append(try member.value(as: User.self).nick)
            }
            #expect((member.response == nil) == (member.index < 2))
        }
        #expect(nicks == ["1", "2", "3", "4"])
    }

    @Test func sequenceDoesNotRetainTheBatch() async throws {
        weak var released: BatchRequest?
        var members: BatchRequest.EndedMembers?
        do {
            let batch = BatchRequest([fixture.plain("a")])
            released = batch
            members = batch.members
            try await batch.send()
        }
        #expect(released == nil)
        #expect(await indices(try #require(members)) == [0])
    }
}
