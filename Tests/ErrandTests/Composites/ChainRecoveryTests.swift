import Errand
import ErrandTesting
import TestSupport
import Testing

/// What the callback of a step sees after a failure.
@Suite(.limited) struct ChainRecoveryTests {
    private let fixture = AgentFixture()
    private let chain = ChainRequest()

    init() {
        fixture.transport.on(.get, "/bad", .json("{}", status: .badRequest))
        fixture.transport.on(.get, "/users", .json(#"{"nick":"a","level":3}"#))
        for path in ["/a", "/b", "/spare"] { fixture.transport.on(.get, path, .json("{}")) }
    }

    private var paths: [String] { fixture.transport.requests.map(\.url.path) }

    @Test func callbackIsNotCalledAfterProceed() async throws {
        var called: [String] = []
        var previous: [String] = []
        chain.add(Plain("bad")) { _, member in called.append(member.url.description) }
            .then { failed in
                previous.append(failed.url.description)
                return Plain("b")
            }
        chain.recover { _, _ in .proceed }
        try await chain.send(on: fixture.agent)
        // The next step gets the failed member.
        #expect(called.isEmpty && previous == ["bad"] && paths == ["/bad", "/b"])
    }

    @Test func callbackGetsAReplacementOfTheSameType() async throws {
        var called: [String] = []
        chain.add(Plain("bad")) { _, member in called.append(member.url.description) }
        chain.recover { _, _ in .replace(Plain("spare")) }
        try await chain.send(on: fixture.agent)
        #expect(called == ["spare"] && paths == ["/bad", "/spare"])
    }

    @Test func replacementOfAnotherTypeFailsTheChainBeforeItIsSent() async throws {
        var isCalled = false
        chain.add(Plain("bad")) { _, _ in isCalled = true }
        chain.recover { _, _ in .replace(GetUser(id: 1)) }
        let error = await #expect(throws: RequestError.self) {
            try await chain.send(on: fixture.agent)
        }
        #expect(error?.code == .chainFailed && error?.message.contains("requires a Plain") == true)
        #expect(!isCalled && paths == ["/bad"])
    }

    @Test func replacementOfAnotherTypeIsSentWithoutACallback() async throws {
        chain.add(Plain("bad"))
        chain.recover { _, _ in .replace(GetUser(id: 1)) }
        try await chain.send(on: fixture.agent)
        #expect(paths == ["/bad", "/users"])
    }

    @Test func callbackOfAReplacementThatFailsIsNotCalled() async throws {
        var isCalled = false
        chain.add(Plain("bad")) { _, _ in isCalled = true }
        let spare = Plain("bad")
        chain.recover { member, _ in member === spare ? .stop : .replace(spare) }
        let error = await #expect(throws: RequestError.self) {
            try await chain.send(on: fixture.agent)
        }
        #expect(error?.code == .unacceptableStatus && !isCalled)
    }

    @Test func callbacksAreNoMembersOfTheProgress() async throws {
        chain.add(Plain("a")) { _, _ in }
        chain.add(Plain("b")) { _, _ in }
        var task: RequestTask?
        try await chain.send(on: fixture.agent) { task = $0 }
        #expect(task?.members?.finished == 2 && task?.members?.total == 2)
    }

    @Test func replacedStepIsCountedOnce() async throws {
        chain.add(Plain("bad"))
        chain.add(Plain("a"))
        chain.recover { _, _ in .replace(Plain("b")) }
        var members: RequestTask.Members?
        try await chain.send(on: fixture.agent) { members = $0.members }
        #expect(members?.finished == 2 && members?.total == 2)
    }

    // MARK: - Replacements that fail

    /// Replacements that always fail, one for each place where a chain can get one; bounded, so that the test ends.
    @Test(arguments: [true, false])
    func stepIsReplacedOnce(byStep: Bool) async throws {
        var calls = 0
        let step = chain.add(Plain("bad"))
        if byStep {
            step.recover(byRequest: { _ in
                calls += 1
                return calls < 20 ? Plain("bad") : nil
            })
        } else {
            chain.recover { _, _ in
                calls += 1
                return calls < 20 ? .replace(Plain("bad")) : .stop
            }
        }
        let error = await #expect(throws: RequestError.self) {
            try await chain.send(on: fixture.agent)
        }
        #expect(error?.code == .unacceptableStatus && paths == ["/bad", "/bad"])
        // The closure of the chain is also asked about the replacement, so that it can return `proceed`.
        #expect(calls == (byStep ? 1 : 2))
        if !byStep { #expect(error?.message.contains("replaced once") == true) }
        #expect(chain.requests.count == 1)
    }

    @Test func chainDoesNotReplaceAReplacementOfTheStep() async throws {
        var calls = 0
        chain.add(Plain("bad")).recover(byRequest: { _ in Plain("bad") })
        chain.recover { _, _ in
            calls += 1
            return calls < 20 ? .replace(Plain("bad")) : .stop
        }
        await #expect(throws: RequestError.self) { try await chain.send(on: fixture.agent) }
        #expect(paths == ["/bad", "/bad"] && calls == 1)
    }

    @Test func chainProceedsAfterAReplacementThatFails() async throws {
        chain.add(Plain("bad"))
        chain.add(Plain("a"))
        var isFirst = true
        chain.recover { _, _ in
            defer { isFirst = false }
            return isFirst ? .replace(Plain("bad")) : .proceed
        }
        try await chain.send(on: fixture.agent)
        #expect(paths == ["/bad", "/bad", "/a"])
    }

    @Test func eachStepAndEachRunCanBeReplaced() async throws {
        for path in ["bad", "bad"] {
            chain.add(Plain(path)).recover(byRequest: { _ in Plain("spare") })
        }
        for _ in 0..<2 { try await chain.send(on: fixture.agent) }
        #expect(
            paths == Array(repeating: ["/bad", "/spare"], count: 4).flatMap { $0 })
    }
}
