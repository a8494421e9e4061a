import Foundation
import TestSupport
import Testing

@testable import ErrandOutbox

extension OutboxQueue {
    /// Ends an attempt and marks its change as written.
    fileprivate mutating func finished(
        _ entry: OutboxEntry, _ verdict: OutboxVerdict, reason: String?, policy: OutboxPolicy,
        now: Duration
    ) -> Change {
        defer { written(entry) }
        return ended(entry, verdict, reason: reason, policy: policy, now: now)
    }
}

@Suite struct OutboxQueueTests {
    private let policy = OutboxPolicy(
        baseDelay: .seconds(1), maximumDelay: .seconds(60), maximumRefusals: 3)

    private func entry(_ number: Int, _ host: String = "a") throws -> OutboxEntry {
        let url = try HTTPURL(parsing: "https://\(host).example/\(number)")
        var entry = OutboxEntry(
            TransportRequest(method: .post, url: url),
            of: RequestDescription(endpoint: "Note", url: ""), at: Date(), body: nil)
        entry.sequence = Int64(number)
        return entry
    }

    @Test func entriesOfAnOriginAreSentInOrder() throws {
        var queue = OutboxQueue()
        let entries = [try entry(1), try entry(2), try entry(3, "b")]
        for entry in entries { queue.add(entry) }
        let first = [queue.next(now: .zero), queue.next(now: .zero), queue.next(now: .zero)]
        #expect(first.map(\.?.sequence) == [1, 3, nil])
        let change = queue.finished(
            entries[0], .delivered, reason: nil, policy: policy, now: .zero)
        #expect(change == .remove)
        let second = queue.next(now: .zero)
        #expect(second?.sequence == 2)
    }

    @Test(arguments: [
        OutboxVerdict.delivered, .undeliverable, .unreachable, .refused(after: nil), .stopped,
        .gone,
    ])
    func nextEntryWaitsUntilTheChangeIsWritten(verdict: OutboxVerdict) throws {
        var queue = OutboxQueue()
        let (one, two) = (try entry(1), try entry(2))
        queue.add(one)
        queue.add(two)
        _ = queue.next(now: .zero)
        _ = queue.ended(one, verdict, reason: nil, policy: policy, now: .zero)
        queue.wake()
        let early = queue.next(now: .seconds(9000))
        #expect(early == nil && queue.wakesAt == nil)
        // An entry added meanwhile waits too, even when its lane has become empty.
        queue.remove(two.id)
        let three = try entry(3)
        queue.add(three)
        let another = queue.next(now: .seconds(9000))
        #expect(another == nil)
        queue.written(one)
        let next = queue.next(now: .seconds(9000))
        let stays = [.unreachable, .refused(after: nil), .stopped].contains(verdict)
        #expect(next?.id == (stays ? one.id : three.id))
    }

    @Test func unreachableOriginIsRetriedWithBackoffInOrder() throws {
        var queue = OutboxQueue()
        let one = try entry(1)
        queue.add(one)
        queue.add(try entry(2))
        var now = Duration.zero
        for expected in [1, 2, 4, 8, 16, 32, 60, 60] {
            _ = queue.next(now: now)
            _ = queue.finished(one, .unreachable, reason: "gone", policy: policy, now: now)
            let early = queue.next(now: now)
            #expect(early == nil)
            #expect(queue.wakesAt == now + .seconds(expected))
            now += .seconds(expected)
        }
        _ = queue.next(now: now)
        _ = queue.finished(one, .unreachable, reason: "gone", policy: policy, now: now)
        queue.wake()
        let next = queue.next(now: now)
        #expect(next?.sequence == 1 && next?.lastFailure == "gone" && next?.refusals == 0)
    }

    @Test func parkedEntriesDoNotBlockTheOrigin() throws {
        var queue = OutboxQueue()
        let (one, two) = (try entry(1), try entry(2))
        queue.add(one)
        queue.add(two)
        var last = OutboxQueue.Change.nothing
        for round in 0..<3 {
            let now = Duration.seconds(1000 * round)
            _ = queue.next(now: now)
            last = queue.finished(
                one, .refused(after: nil), reason: "503", policy: policy, now: now)
        }
        guard case .update(let parked) = last else {
            Issue.record("The entry was not parked.")
            return
        }
        #expect(parked.isParked && parked.refusals == 3 && parked.lastFailure == "503")
        let next = queue.next(now: .seconds(9000))
        #expect(next?.sequence == 2)
        let change = queue.finished(two, .undeliverable, reason: "400", policy: policy, now: .zero)
        guard case .update(let second) = change else {
            Issue.record("The entry was not parked.")
            return
        }
        #expect(second.isParked && queue.waiting == 0 && queue.entries.count == 2)
        let again = queue.retry(one.id)
        #expect(again?.isParked == false && again?.refusals == 0)
        let retried = queue.next(now: .zero)
        #expect(retried?.id == one.id)
    }

    @Test func retryAfterIsFollowedUpToTheMaximumDelay() throws {
        var queue = OutboxQueue()
        let one = try entry(1)
        queue.add(one)
        _ = queue.next(now: .zero)
        _ = queue.finished(
            one, .refused(after: .seconds(30)), reason: nil, policy: policy, now: .zero)
        #expect(queue.wakesAt == .seconds(30))
        _ = queue.next(now: .seconds(30))
        _ = queue.finished(
            one, .refused(after: .seconds(99_999)), reason: nil, policy: policy, now: .zero)
        #expect(queue.wakesAt == .seconds(60))
    }

    /// For random events: an origin has at most one entry in flight, in order.
    ///
    /// No entry is lost, and none is sent after its end.
    @Test func invariantsHoldForRandomEvents() throws {
        var random = SeededGenerator(seed: 5)
        for _ in 0..<200 {
            var queue = OutboxQueue()
            var inFlight: [OutboxEntry] = []
            var unwritten: [OutboxEntry] = []
            var alive: Set<UUID> = []
            var ended: Set<UUID> = []
            var lastDelivered: [String: Int64] = [:]
            for number in 1...120 {
                switch Int.random(in: 0..<7, using: &random) {
                case 0, 1:
                    let host = ["a", "b", "c"].randomElement(using: &random) ?? "a"
                    let new = try entry(number, host)
                    queue.add(new)
                    alive.insert(new.id)
                case 2:
                    while let next = queue.next(now: .seconds(number * 100)) {
                        #expect(alive.contains(next.id) && !ended.contains(next.id))
                        #expect(!(inFlight + unwritten).contains { $0.lane == next.lane })
                        #expect(next.sequence > lastDelivered[next.lane] ?? 0)
                        inFlight.append(next)
                    }
                case 3, 4:
                    guard let index = inFlight.indices.randomElement(using: &random) else {
                        continue
                    }
                    let entry = inFlight.remove(at: index)
                    unwritten.append(entry)
                    let verdict =
                        [
                            OutboxVerdict.delivered, .unreachable, .refused(after: nil),
                            .undeliverable,
                            .stopped,
                        ].randomElement(using: &random) ?? .delivered
                    let change = queue.ended(
                        entry, verdict, reason: "", policy: policy, now: .seconds(number * 100))
                    if change == .remove {
                        alive.remove(entry.id)
                        ended.insert(entry.id)
                        lastDelivered[entry.lane] = entry.sequence
                    }
                    if case .update(let changed) = change, changed.isParked {
                        alive.remove(entry.id)
                    }
                case 5:
                    for entry in unwritten { queue.written(entry) }
                    unwritten = []
                default:
                    guard let id = alive.randomElement(using: &random) else { continue }
                    queue.remove(id)
                    alive.remove(id)
                    ended.insert(id)
                }
                let listed = Set(queue.entries.map(\.id))
                #expect(alive.isSubset(of: listed) && listed.isDisjoint(with: ended))
            }
        }
    }

    @Test(arguments: [
        (RequestError.Code.connectionLost, 0, OutboxVerdict.unreachable),
        (.cannotConnect, 0, .unreachable), (.offline, 0, .unreachable), (.cancelled, 0, .stopped),
        (.agentShutDown, 0, .stopped), (.unacceptableStatus, 503, .refused(after: nil)),
        (.unacceptableStatus, 429, .refused(after: nil)),
        (.unacceptableStatus, 401, .refused(after: nil)),
        (.authenticationFailed, 0, .refused(after: nil)),
        (.unacceptableStatus, 400, .undeliverable),
        (.unacceptableStatus, 409, .undeliverable), (.invalidURL, 0, .undeliverable),
        (.unsafeRedirect, 0, .undeliverable), (.truncatedBody, 0, .unreachable),
        (.truncatedBody, 201, .delivered), (.bodyTooLarge, 200, .delivered),
        (.processingFailed, 200, .delivered), (.unacceptableContentType, 200, .delivered),
        (.connectionLost, 200, .delivered), (.connectionLost, 503, .unreachable),
        (.processingFailed, 404, .undeliverable), (.rejected, 200, .undeliverable),
        (.processingFailed, 0, .refused(after: nil)),
    ])
    func verdictsOfErrors(code: RequestError.Code, status: Int, verdict: OutboxVerdict) {
        var error = RequestError(code, stage: .transport, "")
        if status > 0 { error.response = Response(status: .init(code: status), url: HTTPURL()) }
        #expect(OutboxVerdict.judge(error, acceptable: [200..<300], now: Date()) == verdict)
        #expect(OutboxVerdict.judge(nil, acceptable: [200..<300], now: Date()) == .delivered)
    }

    @Test func responseCancelledByAValidatorCountsAsDelivered() {
        let dropped = RequestError(.cancelled, stage: .validate, "")
        #expect(OutboxVerdict.judge(dropped, acceptable: [200..<300], now: Date()) == .delivered)
    }

    @Test func originServedByAnotherOutboxIsRetriedWithoutAFailure() throws {
        var queue = OutboxQueue()
        let one = try entry(1)
        queue.add(one)
        _ = queue.next(now: .zero)
        let change = queue.finished(
            one, .leasedElsewhere(after: .seconds(2)), reason: nil, policy: policy, now: .zero)
        #expect(change == .nothing)
        #expect(queue.wakesAt == .seconds(2))
        let again = queue.next(now: .seconds(2))
        #expect(again?.refusals == 0 && again?.lastFailure == nil)
        _ = queue.finished(one, .unreachable, reason: "gone", policy: policy, now: .seconds(2))
        #expect(queue.wakesAt == .seconds(3))
    }

    @Test func entryDeliveredByAnotherOutboxIsRemoved() throws {
        var queue = OutboxQueue()
        let one = try entry(1)
        queue.add(one)
        queue.add(try entry(2))
        _ = queue.next(now: .zero)
        let change = queue.finished(one, .gone, reason: nil, policy: policy, now: .zero)
        #expect(change == .nothing)
        let next = queue.next(now: .zero)
        #expect(next?.sequence == 2)
    }

    @Test func mergeAppliesChangesOfAnotherOutbox() throws {
        var queue = OutboxQueue()
        var (one, two, three) = (try entry(1), try entry(2), try entry(3))
        queue.add(two)
        queue.add(three)
        _ = queue.next(now: .zero)
        _ = queue.finished(
            two, .leasedElsewhere(after: .seconds(9)), reason: nil, policy: policy, now: .zero)
        // An earlier entry, a parked entry, and an entry with a new refusal count.
        two.isParked = true
        three.refusals = 2
        let hasChanged = queue.merge([one, two, three])
        #expect(hasChanged)
        #expect(queue.entries.map(\.sequence) == [1, 2, 3])
        let first = queue.next(now: .zero)
        #expect(first?.sequence == 1)
        _ = queue.finished(one, .delivered, reason: nil, policy: policy, now: .zero)
        let second = queue.next(now: .zero)
        #expect(second?.sequence == 3 && second?.refusals == 2)
        one.refusals = 0
        two.isParked = false
        let isBack = queue.merge([two])
        #expect(isBack && queue.waiting == 2)
    }

    @Test func mergeSkipsBusyEntriesAndKeepsTheBackoff() throws {
        var queue = OutboxQueue()
        var one = try entry(1)
        queue.add(one)
        _ = queue.next(now: .zero)
        _ = queue.finished(one, .unreachable, reason: "gone", policy: policy, now: .zero)
        one.isParked = true
        let hasChanged = queue.merge([one], except: [one.id])
        #expect(!hasChanged && queue.waiting == 1)
        let isNew = queue.merge([try entry(2)])
        #expect(isNew && queue.wakesAt == .seconds(1))
    }
}
