import TestSupport
import Testing

@testable import ErrandCore

@Suite(.limited) struct NetworkStatusHubTests {
    @Test func equalStatusesAreReportedOnce() async {
        let hub = NetworkStatusHub()
        let changes = hub.changes()
        hub.update(NetworkStatus(.wifi))
        hub.update(NetworkStatus(.wifi))
        hub.update(NetworkStatus(.wifi, isExpensive: true))
        hub.update(NetworkStatus(.none))
        hub.finish()
        var seen: [String] = []
        for await status in changes { seen.append("\(status)") }
        #expect(seen == ["unknown", "wifi", "wifi, expensive", "none"])
        // A subscriber after the end receives the last status and then the end.
        var late: [String] = []
        for await status in hub.changes() { late.append("\(status)") }
        #expect(late == ["none"])
    }

    @Test func slowReaderReceivesTheLatestStatusWithoutRepetitions() async {
        let hub = NetworkStatusHub(NetworkStatus(.wifi))
        let changes = hub.changes()
        for _ in 0..<5000 {
            for kind in [NetworkStatus.Kind.none, .wifi] { hub.update(NetworkStatus(kind)) }
        }
        hub.update(NetworkStatus(.wired))
        hub.finish()
        var seen: [NetworkStatus] = []
        for await status in changes { seen.append(status) }
        #expect(seen.last?.kind == .wired)
        #expect(seen.count < 1000)
        #expect(zip(seen, seen.dropFirst()).allSatisfy { $0 != $1 })
    }
}
