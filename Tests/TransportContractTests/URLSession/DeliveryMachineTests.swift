import ErrandCore
import ErrandTransport
import Testing

@testable import ErrandURLSession

/// The order of a transfer's events, without a session.
@Suite("DeliveryMachine")
struct DeliveryMachineTests {
    var machine = DeliveryMachine()
    let head = ResponseHead(status: .ok)
    let failure = RequestError(.connectionLost, stage: .transport, "gone")

    /// The actions of `next()` until it returns `.nothing`.
    ///
    /// The receiver returns `.more` for every stored chunk.
    private mutating func drain() -> [String] {
        var actions: [String] = []
        guard machine.begin() else { return ["busy"] }
        while true {
            switch machine.next() {
            case .informational: actions.append("informational")
            case .head: actions.append("head")
            case .sent(let count): actions.append("sent \(count)")
            case .storedBytes:
                actions.append("bytes")
                machine.delivered(10, demand: .more)
            case .end(let error): actions.append("end \(error?.code.description ?? "success")")
            case .nothing: return actions
            }
        }
    }

    private func fail(_ message: String) { Issue.record(Comment(rawValue: message)) }

    private mutating func store() {
        guard case .store = machine.arrived(bytes: 10) else {
            Issue.record("expected .store")
            return
        }
        machine.stored(10)
    }

    private mutating func arrive(_ demand: Demand) {
        guard case .deliver = machine.arrived(bytes: 10) else {
            Issue.record("expected .deliver")
            return
        }
        machine.delivered(0, demand: demand)
        _ = machine.next()
    }

    @Test mutating func eventsAreDeliveredInOrderAndEndOnce() {
        machine.arrived(informational: head)
        machine.arrived(head: head)
        #expect(drain() == ["informational", "head"])
        arrive(.more)
        machine.sent(5)
        machine.completed(nil)
        #expect(drain() == ["sent 5", "end success"])
        machine.completed(failure)
        machine.arrived(head: head)
        #expect(drain() == [])
        #expect([machine.abort(.cancelled)] == [false])
    }

    @Test mutating func pauseDelaysBytesAndTheEnd() {
        machine.arrived(head: head)
        #expect(drain() == ["head"])
        arrive(.pause)
        store()
        machine.completed(nil)
        #expect(machine.isWaitingForReceiver)
        #expect(drain() == [])
        machine.resume()
        #expect(drain() == ["bytes", "end success"])
    }

    @Test mutating func resumeWithinThePausingCallbackTakesEffect() {
        machine.arrived(head: head)
        #expect(drain() == ["head"])
        guard case .deliver = machine.arrived(bytes: 10) else { return fail("expected .deliver") }
        machine.resume()
        machine.delivered(0, demand: .pause)
        #expect(!machine.isWaitingForReceiver)
    }

    @Test mutating func bytesThatArriveDuringADeliveryAreStored() {
        machine.arrived(head: head)
        #expect(drain() == ["head"])
        guard case .deliver = machine.arrived(bytes: 10) else { return fail("expected .deliver") }
        store()
        #expect(drain() == ["busy"])
        machine.delivered(0, demand: .more)
        guard case .storedBytes = machine.next() else { return fail("expected .storedBytes") }
    }

    @Test mutating func abortTakesPrecedence() {
        machine.arrived(head: head)
        #expect(drain() == ["head"])
        arrive(.pause)
        store()
        #expect([machine.abort(.cancelled)] == [true])
        #expect([machine.abort(failure)] == [false])
        guard case .drop = machine.arrived(bytes: 10) else { return fail("expected .drop") }
        #expect(drain() == ["end cancelled"])
    }

    @Test mutating func stopCancelsTheTransfer() {
        machine.arrived(head: head)
        #expect(drain() == ["head"])
        guard case .deliver = machine.arrived(bytes: 10) else { return fail("expected .deliver") }
        machine.delivered(0, demand: .stop)
        guard case .end(let error) = machine.next() else { return fail("expected .end") }
        #expect(error?.code == .cancelled)
        machine.completed(nil)
        let last = machine.next()
        #expect(last.isNothing)
    }

    @Test mutating func bytesAfterAnEarlyEndAreDropped() {
        machine.arrived(head: head)
        machine.completed(failure)
        guard case .drop = machine.arrived(bytes: 10) else { return fail("expected .drop") }
        #expect(drain() == ["head", "end \(failure.code)"])
    }

    @Test mutating func progressNeverDecreases() {
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
