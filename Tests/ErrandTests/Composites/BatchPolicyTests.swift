import ErrandTesting
import Foundation
import TestSupport
import Testing

@testable import Errand

/// How the results of the members decide the result of a batch.
@Suite(.limited) struct BatchPolicyTests {
    private static let policies: [BatchRequest.Policy] = [
        .failFast, .collectAll, .requireAll, .firstSuccess, .quorum(1), .quorum(2), .quorum(3),
    ]

    /// Compares the tally with each policy's definition for every sequence of results of up to five members.
    @Test(arguments: policies)
    func tallyMatchesThePolicyForEveryResultSequence(policy: BatchRequest.Policy) {
        for count in 0...5 {
            for bits in 0..<(1 << count) {
                let results = (0..<count).map { bits & (1 << $0) != 0 }
                var tally = BatchState(policy, count: count)
                #expect(tally.verdict == expected(policy, [], of: count))
                for index in 0..<count {
                    let before = tally.verdict
                    _ = tally.end(isSuccess: results[index])
                    let verdict = expected(policy, Array(results[...index]), of: count)
                    #expect(tally.verdict == (before == .open ? verdict : before))
                }
                #expect(tally.verdict != .open)
            }
        }
    }

    private func expected(
        _ policy: BatchRequest.Policy, _ results: [Bool], of count: Int
    ) -> BatchState.Verdict {
        let (good, bad) = (results.count { $0 }, results.count { !$0 })
        let isOver = results.count == count
        switch policy {
        case .failFast: return bad > 0 ? .failed : isOver ? .succeeded : .open
        case .collectAll: return isOver ? .succeeded : .open
        case .requireAll: return !isOver ? .open : bad > 0 ? .failed : .succeeded
        case .firstSuccess: return good > 0 ? .succeeded : bad == count ? .failed : .open
        case .quorum(let number):
            return good >= number ? .succeeded : count - bad < number ? .failed : .open
        }
    }

    private func fixture() -> AgentFixture {
        let fixture = AgentFixture()
        fixture.transport.on(.get, "/good", .json(#"{"n":1}"#))
        fixture.transport.on(.get, "/bad", .json("{}", status: .badRequest))
        fixture.transport.on(.get, "/slow", .silence)
        return fixture
    }

    private func batch(
        _ paths: String..., policy: BatchRequest.Policy, in fixture: AgentFixture
    ) -> BatchRequest {
        BatchRequest(paths.map { fixture.with(Plain($0)) }, policy: policy)
    }

    @Test func firstSuccessCancelsTheOtherMembers() async throws {
        let fixture = fixture()
        let batch = batch("slow", "bad", "good", policy: .firstSuccess, in: fixture)
        let results = try await batch.send()
        #expect(try results[2].get().json["n"].int == 1)
        #expect(batch.requests[0].error?.code == .cancelled)
        #expect(fixture.transport.inFlight == 0)
        let codes = results.map { result in
            if case .failure(let error) = result { error.code } else { RequestError.Code?.none }
        }
        #expect(codes[0] == .cancelled)
        #expect(codes[1] == .unacceptableStatus || codes[1] == .cancelled)
        #expect(batch.failedRequest !== batch.requests[0])
    }

    @Test func firstSuccessWithoutSuccessFailsWithTheFirstError() async throws {
        let fixture = fixture()
        let batch = batch("bad", "bad", policy: .firstSuccess, in: fixture)
        let error = await #expect(throws: RequestError.self) { try await batch.send() }
        #expect(error?.code == .unacceptableStatus)
        #expect(batch.results.count == 2)
        #expect(batch.failedRequest != nil)
    }

    @Test func quorumSucceedsAndCancelsTheRest() async throws {
        let fixture = fixture()
        let batch = batch("good", "slow", "good", policy: .quorum(2), in: fixture)
        let results = try await batch.send()
        #expect(results.compactMap { try? $0.get() }.count == 2)
        #expect(batch.requests[1].error?.code == .cancelled)
        #expect(batch.failedRequest == nil)
        #expect(fixture.transport.inFlight == 0)
    }

    @Test func unreachableQuorumFailsAtOnce() async throws {
        let fixture = fixture()
        let batch = batch("slow", "bad", "bad", policy: .quorum(2), in: fixture)
        let error = await #expect(throws: RequestError.self) { try await batch.send() }
        #expect(error?.code == .unacceptableStatus)
        #expect(batch.requests[0].error?.code == .cancelled)
        #expect(fixture.transport.inFlight == 0)
    }

    @Test func quorumLargerThanTheBatchIsInvalid() async throws {
        let fixture = fixture()
        for policy in [BatchRequest.Policy.quorum(3), .firstSuccess] {
            let batch =
                policy == .firstSuccess
                ? BatchRequest([], policy: policy)
                : batch("good", "good", policy: policy, in: fixture)
            let error = await #expect(throws: RequestError.self) { try await batch.send() }
            #expect(error?.code == .invalidConfiguration)
            #expect(error?.message.contains("successes of \(batch.requests.count)") == true)
        }
        #expect(fixture.transport.requests.isEmpty)
    }

    /// Members that have not started when the batch is decided are not sent.
    @Test func membersAreNotSentAfterTheBatchIsDecided() async throws {
        let fixture = fixture()
        let members = (0..<4).map { _ in fixture.with(Plain("good")) }
        let batch = BatchRequest(members, policy: .firstSuccess, maxConcurrent: 1)
        let results = try await batch.send()
        #expect(fixture.transport.requests.count == 1)
        #expect(results.compactMap { try? $0.get() }.count == 1)
    }

    @Test @MainActor func quorumSuccessCallsTheSuccessClosure() async {
        let fixture = fixture()
        let batch = batch("bad", "good", "slow", policy: .quorum(1), in: fixture)
        let error = await withCheckedContinuation { continuation in
            batch.start { _ in
                continuation.resume(returning: RequestError?.none)
            } failure: { _, error in
                continuation.resume(returning: error)
            }
        }
        #expect(error == nil)
        #expect(batch.results.count == 3)
    }
}
