import Dispatch
import Errand
import ErrandTesting
import Synchronization
import TestSupport
import Testing

/// Every order of ends, every combination of outcomes and every policy, for up to five members.
@Suite(.limited) struct BatchOrderTests {
    private static let policies: [BatchRequest.Policy] = [
        .failFast, .collectAll, .requireAll, .firstSuccess, .quorum(2), .quorum(3),
    ]

    /// Whether the batch has succeeded or failed after these ends; `nil` if it is open.
    private func verdict(
        _ policy: BatchRequest.Policy, good: Int, bad: Int, of count: Int
    ) -> Bool? {
        switch policy {
        case .failFast: bad > 0 ? false : good == count ? true : nil
        case .collectAll: good + bad == count ? true : nil
        case .requireAll: good + bad == count ? bad == 0 : nil
        case .firstSuccess: good > 0 ? true : bad == count ? false : nil
        case .quorum(let number): good >= number ? true : count - bad < number ? false : nil
        }
    }

    @Test(arguments: policies)
    func everyOrderAndOutcomeGivesTheResultOfThePolicy(policy: BatchRequest.Policy) async throws {
        let gates = Mutex<[Gate]>([])
        let fixture = AgentFixture()
        fixture.transport.maximumRecordedRequests = 1
        fixture.transport.respond { request in
            // The path has the number of the member and its outcome.
            let number = Int(request.url.path.dropFirst(2)) ?? 0
            let isGood = request.url.path.hasPrefix("/s")
            return ScriptedResponse.json("{}", status: isGood ? .ok : .notFound)
                .held(by: gates.withLock { $0[number] })
        }
        let first = if case .quorum(let number) = policy { number } else { 1 }
        for count in first...5 {
            for order in permutations(of: Array(0..<count)) {
                for bits in 0..<(1 << count) {
                    let outcomes = (0..<count).map { bits & (1 << $0) != 0 }
                    gates.withLock { $0 = (0..<count).map { _ in Gate() } }
                    try await check(
                        policy, outcomes, order, gates.withLock { $0 }, on: fixture.agent)
                }
            }
        }
        #expect(fixture.agent.activeTasks.isEmpty)
    }

    private func check(
        _ policy: BatchRequest.Policy, _ outcomes: [Bool], _ order: [Int], _ gates: [Gate],
        on agent: RequestAgent
    ) async throws {
        let count = outcomes.count
        let batch = BatchRequest(
            outcomes.enumerated().map { Plain("\($1 ? "s" : "f")\($0)") }, policy: policy)
        let members = batch.members
        let (ends, end) = AsyncStream.makeStream(
            of: Result<[Result<Response, RequestError>], RequestError>.self)
        BatchRequest.start(batch, on: agent, queue: .global()) { batch in
            if let result = batch.result { end.yield(result) }
            end.finish()
        } failure: { _, error in
            end.yield(.failure(error))
            end.finish()
        }
        var iterator = members.makeAsyncIterator()
        var (good, bad) = (0, 0)
        var expected = Array(repeating: RequestError.Code?.some(.cancelled), count: count)
        var result: Bool?
        for index in order where result == nil {
            gates[index].open()
            let member = await iterator.next()
            if outcomes[index] { good += 1 } else { bad += 1 }
            expected[index] = outcomes[index] ? nil : .unacceptableStatus
            result = verdict(policy, good: good, bad: bad, of: count)
            guard member?.index == index, member?.error?.code == expected[index] else {
                Issue.record("\(policy) \(outcomes) \(order): \(String(describing: member))")
                break
            }
        }
        var all = 0
        for await _ in members { all += 1 }
        var results: [Result<[Result<Response, RequestError>], RequestError>] = []
        for await result in ends { results.append(result) }
        let codes = (try? results.first?.get())?.map { $0.failure?.code }
        let isRight =
            results.count == 1 && all == count
            && (result == true
                ? codes == expected : results[0].failure?.code == .unacceptableStatus)
        if !isRight {
            Issue.record("\(policy) \(outcomes) \(order): \(results), expected \(expected)")
        }
    }

    private func permutations(of items: [Int]) -> [[Int]] {
        guard items.count > 1 else { return [items] }
        return items.flatMap { item in
            permutations(of: items.filter { $0 != item }).map { [item] + $0 }
        }
    }
}
