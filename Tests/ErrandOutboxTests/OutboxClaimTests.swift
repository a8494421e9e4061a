import Foundation
import Testing

@testable import ErrandOutbox

/// Claims on outbox entries: one sender per origin, and in order.
@Suite struct OutboxClaimTests {
    private let now = Date(timeIntervalSince1970: 1_000_000)
    private let me = UUID()
    private let other = UUID()
    private let first = UUID()
    private let second = UUID()

    private func lease(_ owner: UUID, from: TimeInterval = 0, for seconds: TimeInterval = 30)
        -> OutboxLease
    {
        let taken = now.addingTimeInterval(from)
        return OutboxLease(
            owner: owner, takenAt: taken, expiresAt: taken.addingTimeInterval(seconds))
    }

    private func position(
        _ id: UUID, _ sequence: Int64, isParked: Bool = false, _ lease: OutboxLease? = nil
    ) -> OutboxPosition {
        OutboxPosition(id: id, sequence: sequence, isParked: isParked, lease: lease)
    }

    private func claim(_ id: UUID, _ positions: OutboxPosition...) -> OutboxClaim {
        OutboxClaim.decide(id, lease: lease(me), among: positions)
    }

    @Test func firstEntryOfAnOriginIsGranted() {
        #expect(claim(first, position(first, 1)) == .granted)
        #expect(claim(first, position(first, 1), position(second, 2)) == .granted)
        #expect(claim(second, position(first, 1, isParked: true), position(second, 2)) == .granted)
    }

    @Test func laterAndMissingEntriesAreNotGranted() {
        #expect(claim(second, position(first, 1), position(second, 2)) == .outdated)
        #expect(claim(first, position(first, 1, isParked: true)) == .outdated)
        #expect(claim(first) == .gone)
        #expect(claim(first, position(second, 2)) == .gone)
    }

    @Test func leaseOfAnotherOwnerBlocksTheOrigin() {
        let until = now.addingTimeInterval(20)
        let held = lease(other, from: -10)
        #expect(claim(first, position(first, 1, held)) == .taken(until: until))
        #expect(
            claim(second, position(first, 1, held), position(second, 2)) == .taken(until: until))
        // The first entry returned to the queue while a later entry was in flight.
        #expect(claim(first, position(first, 1), position(second, 2, held)) == .taken(until: until))
    }

    @Test func leaseExpires() {
        #expect(claim(first, position(first, 1, lease(other, from: -30))) == .granted)
        #expect(claim(first, position(first, 1, lease(other, from: -29))) != .granted)
    }

    @Test func leaseFromTheFutureIsIgnoredAfterAClockChange() {
        #expect(claim(first, position(first, 1, lease(other, from: 3600))) == .granted)
        #expect(claim(first, position(first, 1, lease(other, from: 5))) != .granted)
    }

    @Test func ownLeaseIsRenewedDespiteEarlierEntries() {
        let own = lease(me, from: -10)
        #expect(claim(second, position(first, 1), position(second, 2, own)) == .granted)
        // Expired and not taken by another outbox, as after a suspension of the process.
        #expect(claim(first, position(first, 1, lease(me, from: -100))) == .granted)
        #expect(claim(first, position(first, 1, lease(other, from: -1))) != .granted)
    }
}
