import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Row BAT-2: what the ends of members mean for the batch.
@Suite(.timeLimit(.minutes(5))) struct BatchPolicyTests {
    private static let policies: [BatchRequest.Policy] = [
        .failFast, .collectAll, .firstSuccess, .quorum(0), .quorum(1), .quorum(2), .quorum(3),
    ]

    /// Against what each policy says, for every row of ends of up to four members.
    @Test(arguments: policies) func verdicts(policy: BatchRequest.Policy) {
        for count in 0...4 {
            for bits in 0..<(1 << count) {
                let ends = (0..<count).map { bits & (1 << $0) != 0 }
                var tally = BatchTally(policy, count: count)
                #expect(tally.verdict == expected(policy, [], of: count))
                for index in 0..<count {
                    let before = tally.verdict
                    tally.add(isSuccess: ends[index])
                    let verdict = expected(policy, Array(ends[...index]), of: count)
                    #expect(tally.verdict == (before == .open ? verdict : before))
                }
                #expect(tally.verdict != .open)
            }
        }
    }

    private func expected(
        _ policy: BatchRequest.Policy, _ ends: [Bool], of count: Int
    ) -> BatchTally.Verdict {
        let (good, bad) = (ends.count { $0 }, ends.count { !$0 })
        let isOver = ends.count == count
        switch policy {
        case .failFast: return bad > 0 ? .failed : isOver ? .succeeded : .open
        case .collectAll: return !isOver ? .open : bad == 0 ? .succeeded : .failed
        case .firstSuccess: return good > 0 ? .succeeded : bad == count ? .failed : .open
        case .quorum(let number):
            let number = max(1, number)
            return good >= number ? .succeeded : count - bad < number ? .failed : .open
        }
    }

    private func world() -> World {
        let world = World()
        world.transport.on(.get, "/good", .json(#"{"n":1}"#))
        world.transport.on(.get, "/bad", .json("{}", status: .badRequest))
        world.transport.on(.get, "/slow", .silence)
        return world
    }

    private func batch(
        _ paths: String..., policy: BatchRequest.Policy, in world: World
    ) -> BatchRequest {
        BatchRequest(paths.map { world.with(Plain($0)) }, policy: policy)
    }

    @Test func theFirstSuccessCancelsTheOthers() async throws {
        let world = world()
        let batch = batch("slow", "bad", "good", policy: .firstSuccess, in: world)
        let results = try await batch.send()
        #expect(try results[2].get().json["n"].int == 1)
        #expect(batch.requests[0].error?.code == .cancelled)
        #expect(world.transport.inFlight == 0)
        let codes = results.map { result in
            if case .failure(let error) = result { error.code } else { RequestError.Code?.none }
        }
        #expect(codes[0] == .cancelled)
        #expect(codes[1] == .unacceptableStatus || codes[1] == .cancelled)
        #expect(batch.failedRequest !== batch.requests[0])
    }

    @Test func noSuccessIsTheFirstFailure() async throws {
        let world = world()
        let batch = batch("bad", "bad", policy: .firstSuccess, in: world)
        let error = await #expect(throws: RequestError.self) { try await batch.send() }
        #expect(error?.code == .unacceptableStatus)
        #expect(batch.results.count == 2)
        #expect(batch.failedRequest != nil)
    }

    @Test func aQuorumIsEnough() async throws {
        let world = world()
        let batch = batch("good", "slow", "good", policy: .quorum(2), in: world)
        let results = try await batch.send()
        #expect(results.compactMap { try? $0.get() }.count == 2)
        #expect(batch.requests[1].error?.code == .cancelled)
        #expect(batch.failedRequest == nil)
        #expect(world.transport.inFlight == 0)
    }

    @Test func aQuorumThatCannotBeReachedAnyMoreFailsAtOnce() async throws {
        let world = world()
        let batch = batch("slow", "bad", "bad", policy: .quorum(2), in: world)
        let error = await #expect(throws: RequestError.self) { try await batch.send() }
        #expect(error?.code == .unacceptableStatus)
        #expect(batch.requests[0].error?.code == .cancelled)
        #expect(world.transport.inFlight == 0)
    }

    @Test func aQuorumOfMoreThanThereAreSendsNothing() async throws {
        let world = world()
        for policy in [BatchRequest.Policy.quorum(3), .firstSuccess] {
            let batch =
                policy == .firstSuccess
                ? BatchRequest([], policy: policy)
                : batch("good", "good", policy: policy, in: world)
            let error = await #expect(throws: RequestError.self) { try await batch.send() }
            #expect(error?.code == .invalidConfiguration)
            #expect(error?.message.contains("successes of \(batch.requests.count)") == true)
        }
        #expect(world.transport.requests.isEmpty)
    }

    /// Members that wait for their turn are not started once the batch is decided.
    @Test func membersBehindTheVerdictAreNotSent() async throws {
        let world = world()
        let members = (0..<4).map { _ in world.with(Plain("good")) }
        let batch = BatchRequest(members, policy: .firstSuccess, maxConcurrent: 1)
        let results = try await batch.send()
        #expect(world.transport.requests.count == 1)
        #expect(results.compactMap { try? $0.get() }.count == 1)
    }

    @Test @MainActor func closuresAreTold() async {
        let world = world()
        let batch = batch("bad", "good", "slow", policy: .quorum(1), in: world)
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
