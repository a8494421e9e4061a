import TestSupport
import Testing

@testable import ErrandCurl

/// Windows of both directions (RFC 9113 §5.2, §6.9).
struct FlowWindowTests {
    @Test func sending() {
        var window = FlowWindow.Sending()
        #expect(window.available == 65_535)
        window.use(65_535)
        #expect(window.available == 0)
        #expect(window.add(-10) == true)
        #expect(window.size == -10)
        #expect(window.available == 0)
        #expect(window.add(FlowWindow.largest) == true)
        #expect(window.available == FlowWindow.largest - 10)
        #expect(window.add(10) == true)
        #expect(window.add(1) == false)
        #expect(window.size == FlowWindow.largest)
    }

    @Test func receiving() {
        var window = FlowWindow.Receiving(100, limit: 100)
        #expect(window.receive(60) == true)
        #expect(window.receive(41) == false)
        #expect(window.held == 60)
        // Less than half of the window is not announced.
        #expect(window.accept(49) == 0)
        #expect(window.held == 11)
        #expect(window.accept(1) == 50)
        #expect(window.available == 90)
        #expect(window.held == 10)
        // No more is accepted than the recipient holds.
        #expect(window.accept(1_000) == 0)
        #expect(window.held == 0)
    }

    /// The window doubles while the recipient keeps up, to its limit.
    @Test func growth() {
        var window = FlowWindow.Receiving(100, limit: 350)
        #expect(window.receive(50) == true)
        #expect(window.accept(50) == 150)
        #expect(window.target == 200 && window.available == 200)
        #expect(window.receive(100) == true)
        #expect(window.accept(100) == 250)
        #expect(window.target == 350 && window.available == 350)
        #expect(window.receive(200) == true)
        #expect(window.accept(200) == 200)
        #expect(window.target == 350 && window.available == 350)
    }

    /// A recipient that holds bytes gets no larger window.
    @Test func slowRecipient() {
        var window = FlowWindow.Receiving(100, limit: 1_000)
        for _ in 0..<10 {
            #expect(window.receive(window.available) == true)
            #expect(window.held + window.available <= 100)
            _ = window.accept(50)
        }
        #expect(window.target == 100)
    }

    /// A paused recipient never holds more than the window.
    @Test(arguments: UInt64(1)...20)
    func bound(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var window = FlowWindow.Receiving(1_000, limit: 8_000)
        var held = 0
        for _ in 0..<2_000 {
            if random.next(2) == 0 {
                let count = random.next(window.available + 1)
                #expect(window.receive(count) == true)
                held += count
            } else {
                let count = random.next(held + 1)
                _ = window.accept(count)
                held -= count
            }
            #expect(window.held == held)
            #expect(held + window.available <= window.target)
            #expect(window.target <= 8_000)
        }
    }
}
