import Testing

@testable import ErrandCore

/// The demand on a shared transfer, from what its requests want.
@Suite struct SharedTransferDemandTests {
    private func demand(_ members: (Bool, RequestPriority)...) -> SharedTransferDemand {
        SharedTransferDemand(
            of: members.map { SharedTransferDemand.Member(isPaused: $0.0, priority: $0.1) })
    }

    @Test func transferPausesWhenAllRequestsArePaused() {
        #expect(!demand().isPaused)
        #expect(demand((true, .normal)).isPaused)
        #expect(!demand((true, .normal), (false, .normal)).isPaused)
        #expect(!demand((false, .normal), (true, .normal)).isPaused)
        #expect(demand((true, .normal), (true, .low)).isPaused)
    }

    @Test func highestPriorityDecides() {
        #expect(demand().priority == nil)
        #expect(demand((false, .low)).priority == .low)
        #expect(demand((false, .low), (false, .high), (false, .normal)).priority == .high)
        #expect(demand((true, .high), (false, .low)).priority == .high)
    }
}
