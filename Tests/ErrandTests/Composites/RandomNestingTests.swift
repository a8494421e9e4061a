import Errand
import ErrandTesting
import TestSupport
import Testing

/// Random batches and chains within each other, compared with the definition of their outcomes.
@Suite(.limited) @MainActor struct RandomNestingTests {
    /// Responds as the paths of a tree say.
    private func fixture(_ tree: CompositeTree) -> (AgentFixture, silent: [Int: Gate]) {
        let fixture = AgentFixture()
        var silent: [Int: Gate] = [:]
        var gates: [String: Gate] = [:]
        for request in tree.requests where request.outcome == .none {
            let gate = Gate()
            silent[request.number] = gate
            gates["/" + CompositeTree.path(request.number, .none)] = gate
        }
        fixture.transport.respond { [gates] request in
            let path = request.url.path
            if let gate = gates[path] { return ScriptedResponse.json("{}").held(by: gate) }
            return path.hasPrefix("/failure") ? .json("{}", status: .notFound) : .json("{}")
        }
        return (fixture, silent)
    }

    @discardableResult
    private func check(
        _ tree: CompositeTree, _ form: CompositeTreeRun.Form,
        _ stop: (kind: CompositeTreeRun.Stop, event: Int)? = nil, _ note: String
    ) async throws -> Int {
        let (fixture, silent) = fixture(tree)
        let run = CompositeTreeRun(tree: tree, form: form, stop: stop)
        let count = try await run.check(
            on: fixture.agent, fixture.clock, silent: silent, "\(note) \(tree)"
        ) {
            fixture.transport.requests.map(\.url.path)
        }
        #expect(fixture.agent.activeTasks.isEmpty, "\(note) \(tree)")
        try await fixture.transport.untilIdle()
        return count
    }

    /// A failure prints the seed and the tree.
    @Test(arguments: 0..<40)
    func randomNestingHasTheOutcomeOfItsDefinition(seed: Int) async throws {
        for number in 0..<5 {
            let seed = UInt64(seed * 5 + number) &* 7919 &+ 1
            var generator = CompositeTree.Generator(seed: seed, hasSilence: true)
            let tree = generator.composite(depth: 5)
            for form in CompositeTreeRun.Form.allCases {
                try await check(tree, form, nil, "seed \(seed), \(form):")
            }
        }
    }

    @Test(arguments: 0..<20)
    func randomNestingEndsAfterACancellationOrADeadline(seed: Int) async throws {
        for number in 0..<5 {
            let seed = UInt64(seed * 5 + number) &* 6007 &+ 3
            var generator = CompositeTree.Generator(seed: seed, hasSilence: true)
            let tree = generator.composite(depth: 5)
            let event = Int.random(in: 1...30, using: &generator.random)
            let kind: CompositeTreeRun.Stop =
                Bool.random(using: &generator.random) ? .cancel : .deadline
            for form in [CompositeTreeRun.Form.send, .closures] {
                try await check(
                    tree, form, (kind, event), "seed \(seed), \(form), \(kind) at \(event):")
            }
        }
    }

    // MARK: - Every point

    /// A chain with a batch that contains a chain, and with a batch that runs its members in order.
    private let fixed = CompositeTree.chain(
        1, proceeds: false,
        [
            .request(2, .success),
            .batch(
                3, .failFast, isSerial: false,
                [
                    .request(4, .success),
                    .chain(5, proceeds: false, [.request(6, .success), .request(7, .success)]),
                ]),
            .batch(
                8, .collectAll, isSerial: true, [.request(9, .success), .request(10, .failure)]),
            .request(11, .success),
        ])

    @Test(arguments: [CompositeTreeRun.Form.send, .closures])
    func cancellationAtEveryPointEndsAllMembersOnce(form: CompositeTreeRun.Form) async throws {
        let count = try await check(fixed, form, nil, "\(form)")
        #expect(count == 11 * 3)
        for event in 1...count {
            try await check(fixed, form, (.cancel, event), "\(form), cancel at \(event):")
        }
    }

    @Test(arguments: [CompositeTreeRun.Form.send, .closures])
    func deadlineAtEveryPointEndsAllMembersOnce(form: CompositeTreeRun.Form) async throws {
        for event in 1...33 {
            try await check(fixed, form, (.deadline, event), "\(form), deadline at \(event):")
        }
        // Each request in turn has no response, so that the deadline decides.
        for request in fixed.requests {
            let tree = fixed.setting(request.number, to: .none)
            try await check(tree, form, (.deadline, .max), "\(form):")
        }
    }

    @Test(arguments: CompositeTreeRun.Form.allCases)
    func failureAtEveryPointEndsAllMembersOnce(form: CompositeTreeRun.Form) async throws {
        for request in fixed.requests {
            for outcome in [CompositeTree.Outcome.failure, .success] {
                try await check(fixed.setting(request.number, to: outcome), form, nil, "\(form):")
            }
        }
    }
}
