import Foundation
import Testing

@testable import ErrandCore

/// Who may send an entry: nobody else at its origin, and in order.
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

    private func place(
        _ id: UUID, _ sequence: Int64, isSetAside: Bool = false, _ lease: OutboxLease? = nil
    ) -> OutboxPlace {
        OutboxPlace(id: id, sequence: sequence, isSetAside: isSetAside, lease: lease)
    }

    private func claim(_ id: UUID, _ places: OutboxPlace...) -> OutboxClaim {
        OutboxClaim.decide(id, lease: lease(me), among: places)
    }

    @Test func theFirstOfItsOriginMayGo() {
        #expect(claim(first, place(first, 1)) == .granted)
        #expect(claim(first, place(first, 1), place(second, 2)) == .granted)
        #expect(claim(second, place(first, 1, isSetAside: true), place(second, 2)) == .granted)
    }

    @Test func whatIsNotFirstOrNotThereAnyMoreMayNot() {
        #expect(claim(second, place(first, 1), place(second, 2)) == .outdated)
        #expect(claim(first, place(first, 1, isSetAside: true)) == .outdated)
        #expect(claim(first) == .gone)
        #expect(claim(first, place(second, 2)) == .gone)
    }

    @Test func anotherAtTheSameOriginIsWaitedFor() {
        let until = now.addingTimeInterval(20)
        let held = lease(other, from: -10)
        #expect(claim(first, place(first, 1, held)) == .taken(until: until))
        #expect(claim(second, place(first, 1, held), place(second, 2)) == .taken(until: until))
        // It was put back while something behind it was under way.
        #expect(claim(first, place(first, 1), place(second, 2, held)) == .taken(until: until))
    }

    @Test func aLeaseLapses() {
        #expect(claim(first, place(first, 1, lease(other, from: -30))) == .granted)
        #expect(claim(first, place(first, 1, lease(other, from: -29))) != .granted)
    }

    @Test func aLeaseOfTheFutureIsOfAClockThatWasPutBack() {
        #expect(claim(first, place(first, 1, lease(other, from: 3600))) == .granted)
        #expect(claim(first, place(first, 1, lease(other, from: 5))) != .granted)
    }

    @Test func itsOwnLeaseIsRenewedWhateverWasPutBackInFrontOfIt() {
        let own = lease(me, from: -10)
        #expect(claim(second, place(first, 1), place(second, 2, own)) == .granted)
        // Lapsed, but nobody took it: as when a process was suspended.
        #expect(claim(first, place(first, 1, lease(me, from: -100))) == .granted)
        #expect(claim(first, place(first, 1, lease(other, from: -1))) != .granted)
    }
}
