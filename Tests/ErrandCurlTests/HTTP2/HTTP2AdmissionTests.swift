import Testing

@testable import ErrandCurl

/// Bursts of requests to origins with shared connections, without network.
@Suite struct HTTP2AdmissionTests {
    private typealias Admission = HTTP2Admission<Int>
    private let origin = HTTP2Admission<Int>.Origin(host: "example.com", port: 443)

    private func burst(_ admission: inout Admission, _ count: Int) -> [Admission.Slot] {
        (0..<count).compactMap { admission.enter(origin, $0) }
    }

    /// An admission whose first request has found a shareable connection.
    private func open(_ count: Int) -> (admission: Admission, slots: [Admission.Slot]) {
        var admission = Admission()
        var slots = burst(&admission, count)
        let first = slots[0]
        slots[0].isProbe = false
        slots += admission.connected(first, isNew: true, isShared: true).map(\.slot)
        return (admission, slots)
    }

    /// A waiting request is retained until it is admitted, and no longer.
    @Test func admittedWaitersAreReleased() throws {
        final class Waiter {}
        let origin = HTTP2Admission<Waiter>.Origin(host: "example.com", port: 443)
        weak var served: Waiter?
        var admission = HTTP2Admission<Waiter>()
        let slot = admission.enter(origin, Waiter())
        let first = try #require(slot)
        do {
            let waiter = Waiter()
            served = waiter
            _ = admission.enter(origin, waiter)
        }
        for _ in 0..<150 { _ = admission.enter(origin, Waiter()) }
        #expect(served != nil)
        #expect(admission.connected(first, isNew: true, isShared: true).count == 100)
        #expect(served == nil)
    }

    @Test func firstRequestIsProbe() {
        var admission = Admission()
        #expect(burst(&admission, 300).map(\.isProbe) == [true])
        let other = HTTP2Admission<Int>.Origin(host: "example.com", port: 444)
        #expect(admission.enter(other, 0)?.isProbe == true)
    }

    @Test(arguments: [true, false])
    func hundredRequestsFollowProbe(isNew: Bool) throws {
        var admission = Admission()
        let first = try #require(burst(&admission, 300).first)
        let released = admission.connected(first, isNew: isNew, isShared: true)
        #expect(released.map(\.waiting) == Array(1...100))
        #expect(released.filter(\.slot.isProbe).map(\.waiting) == [100])
        // A second notification has no effect.
        var again = first
        again.isProbe = false
        #expect(admission.connected(again, isNew: true, isShared: true).isEmpty)
    }

    @Test func newConnectionAdmitsHundredMore() throws {
        var (admission, slots) = open(300)
        let probe = try #require(slots.last)
        let released = admission.connected(probe, isNew: true, isShared: true)
        #expect(released.map(\.waiting) == Array(101...200))
        let second = try #require(released.last?.slot)
        #expect(second.isProbe)
        #expect(
            admission.connected(second, isNew: true, isShared: true).map(\.waiting)
                == Array(201..<300))
    }

    @Test func existingConnectionAdmitsOneMorePerProbe() throws {
        var (admission, slots) = open(130)
        var probe = try #require(slots.last)
        for number in 101..<130 {
            let released = admission.connected(probe, isNew: false, isShared: true)
            #expect(released.map(\.waiting) == [number])
            probe = try #require(released.first?.slot)
            #expect(probe.isProbe)
        }
        #expect(admission.connected(probe, isNew: false, isShared: true).isEmpty)
    }

    @Test func endedRequestAdmitsNext() throws {
        var (admission, slots) = open(103)
        // One probe is still active, and stays the only one.
        #expect(admission.leave(slots[0], isStillProbe: false).isEmpty)
        let probe = try #require(slots.last)
        let next = admission.leave(probe, isStillProbe: true)
        #expect(next.map(\.waiting) == [101, 102])
        #expect(next.map(\.slot.isProbe) == [false, true])
    }

    @Test func requestsOfLostConnectionShareNewOne() throws {
        var (admission, slots) = open(60)
        let again = (0..<40).map { admission.reenter(slots[$0], $0) }
        let probe = try #require(again.first ?? nil)
        #expect(probe.isProbe && again.dropFirst().allSatisfy { $0 == nil })
        // A new request waits with the others.
        let newcomer = admission.enter(origin, 100)
        #expect(newcomer == nil)
        let released = admission.connected(probe, isNew: true, isShared: true)
        #expect(released.map(\.waiting) == Array(1..<40) + [100])
        #expect(!released.contains { $0.slot.isProbe })
        // A request that notices the loss later uses the new connection.
        let late = admission.reenter(slots[50], 50)
        #expect(late?.isProbe == false)
        // The first request that loses the new connection becomes the next probe.
        let first = admission.reenter(released[0].slot, 1)
        let second = admission.reenter(released[1].slot, 2)
        #expect(first?.isProbe == true && second == nil)
    }

    @Test func failedReconnectionAdmitsNextProbe() throws {
        var (admission, slots) = open(3)
        let again = (0..<3).map { admission.reenter(slots[$0], $0) }
        let next = admission.leave(try #require(again.first ?? nil), isStillProbe: true)
        #expect(next.map(\.waiting) == [1] && next.first?.slot.isProbe == true)
    }

    @Test func probeStaysProbeAfterReentry() throws {
        var admission = Admission()
        let probe = try #require(burst(&admission, 3).first)
        let entered = admission.reenter(probe, 0)
        let again = try #require(entered)
        #expect(again.isProbe)
        let released = admission.connected(again, isNew: true, isShared: true)
        #expect(released.map(\.waiting) == [1, 2])
    }

    @Test func failedProbeIsReplaced() throws {
        var admission = Admission()
        var probe = try #require(burst(&admission, 3).first)
        for number in 1..<3 {
            let next = admission.leave(probe, isStillProbe: true)
            #expect(next.map(\.waiting) == [number])
            probe = try #require(next.first?.slot)
            #expect(probe.isProbe)
        }
        #expect(admission.leave(probe, isStillProbe: true).isEmpty)
    }

    @Test func unsharedConnectionAdmitsAll() throws {
        var admission = Admission()
        let first = try #require(burst(&admission, 500).first)
        let released = admission.connected(first, isNew: true, isShared: false)
        #expect(released.map(\.waiting) == Array(1..<500))
        #expect(!released.contains { $0.slot.isProbe })
        #expect(admission.enter(origin, 0)?.isProbe == false)
    }

    @Test func idleOriginIsForgotten() {
        var (admission, slots) = open(90)
        for slot in slots {
            #expect(admission.leave(slot, isStillProbe: false).isEmpty)
        }
        #expect(burst(&admission, 102).count == 1)
    }

    /// In every order of events, each request is admitted exactly once.
    @Test(arguments: 0..<50)
    func everyRequestIsAdmittedOnce(seed: Int) {
        var admission = Admission()
        var random = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 | 1
        func next(_ limit: Int) -> Int {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(random >> 33) % limit
        }
        var active: [Admission.Slot] = []
        var admitted: [Int] = []
        for number in 0..<400 {
            if let slot = admission.enter(origin, number) {
                active.append(slot)
                admitted.append(number)
            }
        }
        while !active.isEmpty {
            let index = next(active.count)
            var released: [(waiting: Int, slot: Admission.Slot)]
            if active[index].isProbe, next(2) == 0 {
                let slot = active[index]
                active[index].isProbe = false
                released = admission.connected(
                    slot, isNew: next(2) == 0, isShared: next(50) > 0)
            } else {
                let slot = active.remove(at: index)
                released = admission.leave(slot, isStillProbe: slot.isProbe)
            }
            active += released.map(\.slot)
            admitted += released.map(\.waiting)
        }
        #expect(admitted.sorted() == Array(0..<400))
    }

    /// The state of an origin is independent of those of others, also in the place of one whose requests have ended.
    @Test func endedOriginLeavesItsPlaceToAnother() throws {
        func origin(_ port: Int) -> Admission.Origin {
            Admission.Origin(host: "example.com", port: port)
        }
        var admission = Admission()
        func enter(_ port: Int) throws -> Admission.Slot {
            let slot = admission.enter(origin(port), 0)
            return try #require(slot)
        }
        let first = try enter(1)
        let second = try enter(2)
        for slot in [first, second] {
            #expect(admission.connected(slot, isNew: true, isShared: true).isEmpty)
        }
        #expect(admission.leave(first, isStillProbe: false).isEmpty)

        // Nothing is known about the third origin, so its second request waits for the first one.
        let third = try enter(3)
        #expect(third.isProbe)
        #expect(admission.enter(origin(3), 7) == nil)
        #expect(admission.enter(origin(2), 0)?.isProbe == false)
        #expect(admission.connected(third, isNew: true, isShared: true).map(\.waiting) == [7])

        let returned = try enter(1)
        #expect(returned.isProbe)
        #expect(admission.enter(origin(1), 8) == nil)
        #expect(admission.leave(returned, isStillProbe: true).map(\.waiting) == [8])
    }

    @Test func returningOriginDoesNotShareAPlace() throws {
        var admission = Admission()
        func enter(_ port: Int) throws -> Admission.Slot {
            let slot = admission.enter(.init(host: "example.com", port: port), 0)
            return try #require(slot)
        }
        let first = try enter(1)
        #expect(admission.leave(first, isStillProbe: true).isEmpty)
        let again = try enter(1)
        let other = try enter(2)
        #expect(again.isProbe && other.isProbe)
    }

    // MARK: - The state of one transfer

    @Test func transferThatHasNotWaitedBegins() {
        var state = AdmissionState<Int>()
        #expect(!state.isProbe)
        #expect(state.begin() == false)
    }

    @Test func waitEndsWithItsNumber() {
        var state = AdmissionState<Int>()
        state.wait(3)
        #expect(state.isAwaiting(3))
        #expect(!state.isAwaiting(2))
        #expect(state.begin() == true)
        #expect(!state.isAwaiting(3))
        #expect(state.begin() == false)
    }

    /// An admission that comes after the end of the transfer is not used.
    @Test func endedTransferDoesNotWait() {
        var state = AdmissionState<Int>()
        state.wait(3)
        state.stopWaiting()
        #expect(!state.isAwaiting(3))
        #expect(state.begin() == false)
    }

    @Test func probeIsKnownByItsSlot() {
        var state = AdmissionState<Int>()
        var admission = Admission()
        state.slot = admission.enter(origin, 1)
        #expect(state.isProbe)
        state.slot?.isProbe = false
        #expect(!state.isProbe)
    }
}
