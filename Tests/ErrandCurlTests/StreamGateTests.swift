import ErrandCurl
import Testing

/// Bursts to servers that take many requests on one connection, without a wire.
@Suite struct StreamGateTests {
    private typealias Gate = StreamGate<Int>
    private let origin = StreamGate<Int>.Origin(host: "example.com", port: 443)

    private func burst(_ gate: inout Gate, _ count: Int) -> [Gate.Place] {
        (0..<count).compactMap { gate.enter(origin, $0) }
    }

    /// A gate behind which the first request has found a connection that can be shared.
    private func open(_ count: Int) -> (gate: Gate, places: [Gate.Place]) {
        var gate = Gate()
        var places = burst(&gate, count)
        let first = places[0]
        places[0].isAhead = false
        places += gate.connected(first, isNew: true, isShared: true).map(\.place)
        return (gate, places)
    }

    /// Who waits is held until it has been let through, and no longer.
    @Test func whoHasBeenServedIsLetGo() throws {
        final class Waiter {}
        let origin = StreamGate<Waiter>.Origin(host: "example.com", port: 443)
        weak var served: Waiter?
        var gate = StreamGate<Waiter>()
        let place = gate.enter(origin, Waiter())
        let first = try #require(place)
        do {
            let waiter = Waiter()
            served = waiter
            _ = gate.enter(origin, waiter)
        }
        for _ in 0..<150 { _ = gate.enter(origin, Waiter()) }
        #expect(served != nil)
        #expect(gate.connected(first, isNew: true, isShared: true).count == 100)
        #expect(served == nil)
    }

    @Test func oneGoesAhead() {
        var gate = Gate()
        #expect(burst(&gate, 300).map(\.isAhead) == [true])
        let other = StreamGate<Int>.Origin(host: "example.com", port: 444)
        #expect(gate.enter(other, 0)?.isAhead == true)
    }

    @Test(arguments: [true, false])
    func aHundredFollow(isNew: Bool) throws {
        var gate = Gate()
        let first = try #require(burst(&gate, 300).first)
        let released = gate.connected(first, isNew: isNew, isShared: true)
        #expect(released.map(\.waiting) == Array(1...100))
        #expect(released.filter(\.place.isAhead).map(\.waiting) == [100])
        // Told twice, it counts once.
        var again = first
        again.isAhead = false
        #expect(gate.connected(again, isNew: true, isShared: true).isEmpty)
    }

    @Test func aNewConnectionHasRoomForAHundred() throws {
        var (gate, places) = open(300)
        let ahead = try #require(places.last)
        let released = gate.connected(ahead, isNew: true, isShared: true)
        #expect(released.map(\.waiting) == Array(101...200))
        let second = try #require(released.last?.place)
        #expect(second.isAhead)
        #expect(
            gate.connected(second, isNew: true, isShared: true).map(\.waiting)
                == Array(201..<300))
    }

    @Test func roomOnAKnownConnectionIsFoundOneByOne() throws {
        var (gate, places) = open(130)
        var ahead = try #require(places.last)
        for number in 101..<130 {
            let released = gate.connected(ahead, isNew: false, isShared: true)
            #expect(released.map(\.waiting) == [number])
            ahead = try #require(released.first?.place)
            #expect(ahead.isAhead)
        }
        #expect(gate.connected(ahead, isNew: false, isShared: true).isEmpty)
    }

    @Test func whoeverLeavesLetsTheNextIn() throws {
        var (gate, places) = open(103)
        // One is still ahead, and stays the only one.
        #expect(gate.leave(places[0], isStillAhead: false).isEmpty)
        let ahead = try #require(places.last)
        let next = gate.leave(ahead, isStillAhead: true)
        #expect(next.map(\.waiting) == [101, 102])
        #expect(next.map(\.place.isAhead) == [false, true])
    }

    @Test func whoHasLostAConnectionSharesTheNext() throws {
        var (gate, places) = open(60)
        let again = (0..<40).map { gate.reenter(places[$0], $0) }
        let ahead = try #require(again.first ?? nil)
        #expect(ahead.isAhead && again.dropFirst().allSatisfy { $0 == nil })
        // One that begins now waits with them.
        let newcomer = gate.enter(origin, 100)
        #expect(newcomer == nil)
        let released = gate.connected(ahead, isNew: true, isShared: true)
        #expect(released.map(\.waiting) == Array(1..<40) + [100])
        #expect(!released.contains { $0.place.isAhead })
        // Who notices late finds the new connection.
        let late = gate.reenter(places[50], 50)
        #expect(late?.isAhead == false)
        // And who loses that one, too, is a first one again.
        let first = gate.reenter(released[0].place, 1)
        let second = gate.reenter(released[1].place, 2)
        #expect(first?.isAhead == true && second == nil)
    }

    @Test func whereTheNewConnectionFailsTheNextOneTries() throws {
        var (gate, places) = open(3)
        let again = (0..<3).map { gate.reenter(places[$0], $0) }
        let next = gate.leave(try #require(again.first ?? nil), isStillAhead: true)
        #expect(next.map(\.waiting) == [1] && next.first?.place.isAhead == true)
    }

    @Test func whoIsAheadStaysAheadForThoseWhoWait() throws {
        var gate = Gate()
        let ahead = try #require(burst(&gate, 3).first)
        let entered = gate.reenter(ahead, 0)
        let again = try #require(entered)
        #expect(again.isAhead)
        let released = gate.connected(again, isNew: true, isShared: true)
        #expect(released.map(\.waiting) == [1, 2])
    }

    @Test func whoFailsToConnectLetsTheNextTry() throws {
        var gate = Gate()
        var ahead = try #require(burst(&gate, 3).first)
        for number in 1..<3 {
            let next = gate.leave(ahead, isStillAhead: true)
            #expect(next.map(\.waiting) == [number])
            ahead = try #require(next.first?.place)
            #expect(ahead.isAhead)
        }
        #expect(gate.leave(ahead, isStillAhead: true).isEmpty)
    }

    @Test func serialServersHoldNobodyUp() throws {
        var gate = Gate()
        let first = try #require(burst(&gate, 500).first)
        let released = gate.connected(first, isNew: true, isShared: false)
        #expect(released.map(\.waiting) == Array(1..<500))
        #expect(!released.contains { $0.place.isAhead })
        #expect(gate.enter(origin, 0)?.isAhead == false)
    }

    @Test func aQuietOriginBeginsAnew() {
        var (gate, places) = open(90)
        for place in places {
            #expect(gate.leave(place, isStillAhead: false).isEmpty)
        }
        #expect(burst(&gate, 102).count == 1)
    }

    /// Whatever happens in whichever order, everybody gets a place in the end, and each once.
    @Test(arguments: 0..<50)
    func everybodyIsServed(seed: Int) {
        var gate = Gate()
        var random = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 | 1
        func next(_ limit: Int) -> Int {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(random >> 33) % limit
        }
        var inside: [Gate.Place] = []
        var admitted: [Int] = []
        for number in 0..<400 {
            if let place = gate.enter(origin, number) {
                inside.append(place)
                admitted.append(number)
            }
        }
        while !inside.isEmpty {
            let index = next(inside.count)
            var released: [(waiting: Int, place: Gate.Place)]
            if inside[index].isAhead, next(2) == 0 {
                let place = inside[index]
                inside[index].isAhead = false
                released = gate.connected(
                    place, isNew: next(2) == 0, isShared: next(50) > 0)
            } else {
                let place = inside.remove(at: index)
                released = gate.leave(place, isStillAhead: place.isAhead)
            }
            inside += released.map(\.place)
            admitted += released.map(\.waiting)
        }
        #expect(admitted.sorted() == Array(0..<400))
    }
}
