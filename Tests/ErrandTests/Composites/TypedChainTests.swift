import Errand
import ErrandTesting
import TestSupport
import Testing

/// Steps of chains with typed outputs, names, conditions, substitutes and values.
@Suite(.limited) struct TypedChainTests {
    private let fixture = CompositeFixture()

    @Test func laterStepsReadAllEarlierOutputs() async throws {
        let chain = ChainRequest()
        let first = chain.add(fixture.user(1))
        let second = chain.add { fixture.user(Int(try first.output.nick)! + 1) }
        let third = chain.add { fixture.user(Int(try first.output.nick + second.output.nick)!) }
        try await chain.send()
        #expect(try third.output.nick == "12")
        #expect(fixture.paths == ["/users?id=1", "/users?id=2", "/users?id=12"])
        #expect(try first.output.nick == "1" && second.member?.output?.nick == "2")
    }

    @Test func listOfStepsMeansTheSameAsMethods() async throws {
        let first = ChainRequest.Step(fixture.user(1))
        let withSecond = true
        let chain = ChainRequest {
            fixture.plain("a")
            first
            if withSecond { ChainRequest.Step { fixture.user(Int(try first.output.nick)! + 1) } }
            for path in ["b", "c"] { fixture.plain(path) }
        }
        try await chain.send()
        #expect(fixture.paths == ["/a", "/users?id=1", "/users?id=2", "/b", "/c"])
    }

    @Test func stepsThatFollowAStepAreAddedWithIt() async throws {
        let first = ChainRequest.Step(fixture.user(1))
        first.then { _, user in fixture.plain(user.nick) }.then { last in
            fixture.plain("\(last.url)x")
        }
        let chain = ChainRequest {
            first
            fixture.plain("b")
        }
        try await chain.send()
        #expect(fixture.paths == ["/users?id=1", "/1", "/1x", "/b"])
    }

    @Test func valueIsThatOfTheLastStepOrOfFinish() async throws {
        for finishes in [false, true] {
            let chain = ChainRequest.Typed<User> { chain in
                let first = chain.add(fixture.user(1)) { [unowned chain] _, user in
                    if finishes, let output = user.output { chain.finish(with: output) }
                }
                return chain.add { fixture.user(Int(try first.output.nick)! + 1) }
            }
            #expect(chain.output == nil)
            #expect(try await chain.value().nick == (finishes ? "1" : "2"))
            #expect(chain.output?.nick == (finishes ? "1" : "2"))
        }
        #expect(fixture.paths == ["/users?id=1", "/users?id=2", "/users?id=1"])
    }

    @Test func finishWithoutAValueFailsATypedChain() async throws {
        let chain = ChainRequest.Typed<User> { chain in
            chain.add(fixture.user(1)) { chain, _ in chain.finish() }
            return chain.add(fixture.user(2))
        }
        let error = await #expect(throws: RequestError.self) { try await chain.value() }
        #expect(error?.code == .chainFailed && chain.output == nil && fixture.paths.count == 1)
    }

    @Test func typedChainIsAMemberOfATypedBatch() async throws {
        let chain = ChainRequest.Typed { $0.add(fixture.user(1)) }
        let (one, two) = try await BatchRequest.Typed(chain, fixture.user(2)).value()
        #expect(one.nick == "1" && two.nick == "2")
    }

    @Test func failureNamesItsStepAndCarriesTheResultsBeforeIt() async throws {
        let chain = ChainRequest()
        chain.add(fixture.user(1))
        chain.add(fixture.user(2))
        chain.add(fixture.user(0), named: "owner")
        let error = await #expect(throws: RequestError.self) { try await chain.send() }
        let step = try #require(chain.failedStep)
        #expect(step.number == 3 && step.name == "owner" && step.endpoint == "GetUser")
        #expect(step.responses.map { $0.json["nick"].string } == ["1", "2"])
        #expect(error?.message.hasSuffix(#"at its step 3 (GetUser, named "owner")."#) == true)
        #expect(error?.code == .unacceptableStatus && error?.endpoint == "GetUser")
    }

    @Test func errorOfAStepClosureNamesTheStep() async throws {
        struct Refused: Error {}
        let chain = ChainRequest()
        chain.add(fixture.user(1))
        chain.add { () async throws -> GetUser? in throw Refused() }
        let error = await #expect(throws: RequestError.self) { try await chain.send() }
        #expect(error?.code == .chainFailed && error?.underlying is Refused)
        #expect(chain.failedStep?.number == 2 && chain.failedStep?.endpoint == nil)
    }

    @Test func conditionSkipsAStepAndItsOutputIsMissing() async throws {
        let chain = ChainRequest()
        let first = chain.add(fixture.user(1))
        let skipped = chain.add(fixture.user(2)).onlyIf { try first.output.nick == "9" }
        chain.add(fixture.user(3)).onlyIf { try first.output.nick == "1" }
        var counts: (finished: Int?, total: Int?)
        chain.add(fixture.user(4)) { chain, _ in
            counts = (chain.task?.members?.finished, chain.task?.members?.total)
        }
        try await chain.send()
        #expect(fixture.paths == ["/users?id=1", "/users?id=3", "/users?id=4"])
        #expect(skipped.member == nil && counts.finished == 4 && counts.total == 4)
        let error = #expect(throws: RequestError.self) { try skipped.output }
        #expect(error?.code == .chainFailed)
    }

    @Test func failedStepIsReplacedByARequestOrAValue() async throws {
        let chain = ChainRequest()
        let byRequest = chain.add(fixture.user(0)).recover(byRequest: { error in
            error.code == .unacceptableStatus ? fixture.user(5) : nil
        })
        let byValue = chain.add(fixture.user(0)).recover(byValue: { _ in try byRequest.output })
        chain.add { fixture.plain(try byRequest.output.nick + byValue.output.nick) }
        try await chain.send()
        #expect(fixture.paths == ["/users?id=0", "/users?id=5", "/users?id=0", "/55"])
    }

    @Test func substituteThatIsNilLeavesTheFailureToTheChain() async throws {
        let chain = ChainRequest()
        chain.add(fixture.user(0)).recover(byValue: { _ in nil })
        chain.add(fixture.plain("a"))
        let error = await #expect(throws: RequestError.self) { try await chain.send() }
        #expect(error?.code == .unacceptableStatus && chain.failedStep?.number == 1)
        chain.recover { _, _ in .proceed }
        try await chain.send()
        #expect(fixture.paths == ["/users?id=0", "/users?id=0", "/a"])
    }

    @Test func stepOfTwoChainsIsRefused() async throws {
        let step = ChainRequest.Step(fixture.user(1))
        let one = ChainRequest { step }
        let two = ChainRequest { step }
        let error = await #expect(throws: RequestError.self) { try await two.send() }
        #expect(error?.code == .invalidCombination && fixture.paths.isEmpty)
        try await one.send()
        #expect(fixture.paths.count == 1)
    }

    @Test func suspendedChainWaitsBetweenSteps() async throws {
        let chain = ChainRequest()
        var isMade = false
        chain.add(fixture.user(1)) { chain, _ in
            chain.task?.suspend()
            let task = chain.task
            Task {
                // The step after this one has not been made when the chain continues.
                task?.resume()
            }
        }
        chain.add { () -> GetUser? in
            isMade = true
            return fixture.user(2)
        }
        try await chain.send()
        #expect(isMade && fixture.paths.count == 2)
    }

    @Test func cancellationEndsASuspendedChain() async throws {
        let chain = ChainRequest()
        var isMade = false
        chain.add(fixture.user(1)) { chain, _ in
            let task = chain.task
            task?.suspend()
            Task { task?.cancel() }
        }
        chain.add { () -> GetUser? in
            isMade = true
            return fixture.user(2)
        }
        let error = await #expect(throws: RequestError.self) { try await chain.send() }
        #expect(error?.code == .cancelled && !isMade && fixture.paths.count == 1)
    }

    @Test func progressIsObservedByCount() async throws {
        let chain = ChainRequest()
        for id in 1...3 { chain.add(fixture.user(id)) }
        var updates: AsyncStream<(finished: Int, total: Int)>?
        try await chain.send { updates = $0.members?.updates }
        var last: (finished: Int, total: Int)?
        for await progress in try #require(updates) { last = progress }
        #expect(last?.finished == 3 && last?.total == 3)
    }

    @Test func chainOfTenThousandStepsRunsAndIsReleased() async throws {
        var count = 0
        weak var released: ChainRequest?
        do {
            let chain = ChainRequest()
            released = chain
            var last = chain.add { () -> ChainRequest? in ChainRequest() }
            for _ in 1..<10_000 {
                let before = last
                last = chain.add { () -> ChainRequest? in
                    count += before.member == nil ? 0 : 1
                    return ChainRequest()
                }
            }
            try await chain.send()
        }
        #expect(count == 9_999 && released == nil)
    }

    /// Each step refers to the one before it; a release by recursion would need some hundred bytes of stack a step.
    @Test func chainOfManyStepsIsReleasedWithoutRecursion() {
        weak var first: CallbackLog?
        do {
            let log = CallbackLog()
            first = log
            let chain = ChainRequest()
            var last = chain.add { () -> ChainRequest? in log.lines.isEmpty ? nil : ChainRequest() }
            for _ in 1..<200_000 {
                let before = last
                last = chain.add { () -> ChainRequest? in before.member }
            }
        }
        #expect(first == nil)
    }
}
