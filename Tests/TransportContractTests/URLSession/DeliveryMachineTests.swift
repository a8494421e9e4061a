import ErrandCore
import Testing

@testable import ErrandURLSession

/// The life of a transfer, without a session.
@Suite("DeliveryMachine")
struct DeliveryMachineTests {
    var machine = DeliveryMachine()
    let head = ResponseHead(status: .ok)
    let failure = RequestError(.connectionLost, stage: .transport, "gone")

    /// What `next()` says until it says nothing, with every stored chunk answered by `.more`.
    private mutating func drain() -> [String] {
        var told: [String] = []
        guard machine.begin() else { return ["busy"] }
        while true {
            switch machine.next() {
            case .informational: told.append("informational")
            case .head: told.append("head")
            case .sent(let count): told.append("sent \(count)")
            case .storedBytes:
                told.append("bytes")
                machine.delivered(10, demand: .more)
            case .end(let error): told.append("end \(error?.code.description ?? "well")")
            case .nothing: return told
            }
        }
    }

    private func wrong(_ what: String) { Issue.record(Comment(rawValue: what)) }

    private mutating func store() {
        guard case .store = machine.arrived(bytes: 10) else {
            Issue.record("bytes are not to be stored")
            return
        }
        machine.stored(10)
    }

    private mutating func arrive(_ demand: Demand) {
        guard case .deliver = machine.arrived(bytes: 10) else {
            Issue.record("bytes are not to be told at once")
            return
        }
        machine.delivered(0, demand: demand)
        _ = machine.next()
    }

    @Test mutating func tellsInOrderAndEndsOnce() {
        machine.arrived(informational: head)
        machine.arrived(head: head)
        #expect(drain() == ["informational", "head"])
        arrive(.more)
        machine.sent(5)
        machine.completed(nil)
        #expect(drain() == ["sent 5", "end well"])
        machine.completed(failure)
        machine.arrived(head: head)
        #expect(drain() == [])
        #expect([machine.abort(.cancelled)] == [false])
    }

    @Test mutating func pauseHoldsBytesAndEndBack() {
        machine.arrived(head: head)
        #expect(drain() == ["head"])
        arrive(.pause)
        store()
        machine.completed(nil)
        #expect(machine.isWaitingForReceiver)
        #expect(drain() == [])
        machine.resume()
        #expect(drain() == ["bytes", "end well"])
    }

    @Test mutating func resumingWithinTheCallThatPausesCounts() {
        machine.arrived(head: head)
        #expect(drain() == ["head"])
        guard case .deliver = machine.arrived(bytes: 10) else { return wrong("stored") }
        machine.resume()
        machine.delivered(0, demand: .pause)
        #expect(!machine.isWaitingForReceiver)
    }

    @Test mutating func bytesThatComeWhileOthersAreToldWaitTheirTurn() {
        machine.arrived(head: head)
        #expect(drain() == ["head"])
        guard case .deliver = machine.arrived(bytes: 10) else { return wrong("stored") }
        store()
        #expect(drain() == ["busy"])
        machine.delivered(0, demand: .more)
        guard case .storedBytes = machine.next() else { return wrong("not told") }
    }

    @Test mutating func abortGoesFirst() {
        machine.arrived(head: head)
        #expect(drain() == ["head"])
        arrive(.pause)
        store()
        #expect([machine.abort(.cancelled)] == [true])
        #expect([machine.abort(failure)] == [false])
        guard case .drop = machine.arrived(bytes: 10) else { return wrong("not dropped") }
        #expect(drain() == ["end cancelled"])
    }

    @Test mutating func stopCancels() {
        machine.arrived(head: head)
        #expect(drain() == ["head"])
        guard case .deliver = machine.arrived(bytes: 10) else { return wrong("stored") }
        machine.delivered(0, demand: .stop)
        guard case .end(let error) = machine.next() else { return wrong("no end") }
        #expect(error?.code == .cancelled)
        machine.completed(nil)
        let last = machine.next()
        #expect(last.isNothing)
    }

    @Test mutating func progressNeverGoesBackwards() {
        machine.sent(5)
        machine.sent(3)
        #expect(drain() == ["sent 5"])
    }
}

extension DeliveryMachine.Action {
    fileprivate var isNothing: Bool {
        if case .nothing = self { return true }
        return false
    }
}
