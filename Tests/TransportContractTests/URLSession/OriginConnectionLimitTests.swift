import Testing

@testable import ErrandURLSession

/// Limits of active transfers per origin.
@Suite("OriginConnectionLimit")
struct OriginConnectionLimitTests {
    private final class Transfer {}

    @Test func transfersAreAdmittedInOrder() {
        let transfers = (0..<5).map { _ in Transfer() }
        let ids = transfers.map { ObjectIdentifier($0) }
        var limit = OriginConnectionLimit(limit: 2)
        let admitted = [0, 1, 2, 3].map { limit.acquire("a", ids[$0]) }
        #expect(admitted == [true, true, false, false])
        let other = limit.acquire("b", ids[4])
        #expect(other)
        let removed = [limit.removeWaiter("a", ids[2]), limit.removeWaiter("a", ids[2])]
        #expect(removed == [true, false])
        let next = [limit.release("a"), limit.release("a"), limit.release("a")]
        #expect(next == [ids[3], nil, nil])
        let again = limit.acquire("a", ids[0])
        #expect(again)
    }

    @Test func endedTransfersAreForgotten() {
        let transfers = (0..<3).map { _ in Transfer() }
        let ids = transfers.map { ObjectIdentifier($0) }
        var limit = OriginConnectionLimit(limit: 1)
        #expect(ids.map { limit.acquire("a", $0) } == [true, false, false])
        #expect(ids.dropFirst().map { limit.removeWaiter("a", $0) } == [true, true])
        #expect(limit.release("a") == nil)
        #expect(limit.isEmpty)
    }

    @Test func zeroMeansNoLimit() {
        let transfer = Transfer()
        var limit = OriginConnectionLimit(limit: 0)
        let admitted = (0..<100).map { _ in limit.acquire("a", ObjectIdentifier(transfer)) }
        #expect(!admitted.contains(false))
    }
}
