import ErrandCore
import ErrandHTTP
import Synchronization
import TestSupport
import Testing

@testable import ErrandReachability

@Suite(.limited) struct HostReachabilityTests {
    @Test(arguments: ["127.0.0.1", "::1", "localhost"])
    func thisMachineIsReachableWithoutANetwork(host: String) async {
        let reachability = HostReachability(host, system: NetworkStatusHub(NetworkStatus(.none)))
        #expect(await reachability.check() == NetworkStatus(.other))
        #expect(reachability.current.isConnected == true)
    }

    // RFC 6761 §6.4: no name below `invalid` exists.
    @Test(arguments: ["errand.invalid", "", "a b", "127.0.0.1:80", "[::1]"])
    func hostWithoutAnAddressIsNotReachable(host: String) async {
        let reachability = HostReachability(host, system: NetworkStatusHub(NetworkStatus(.wifi)))
        #expect(await reachability.check() == NetworkStatus(.none))
    }

    @Test func addressWithoutARouteIsNotReachable() async {
        // A multicast address of an interface that does not exist.
        #expect(await !HostRoute.exists(to: "fe80::1%errand-none"))
    }

    @Test func changesOfTheNetworkCauseAChecks() async throws {
        let system = NetworkStatusHub(NetworkStatus(.none))
        let hasRoute = Mutex(false)
        let reachability = HostReachability(system: system) { hasRoute.withLock { $0 } }
        var changes = reachability.changes().makeAsyncIterator()
        var status = await changes.next()
        if status == NetworkStatus(.unknown) { status = await changes.next() }
        #expect(status == NetworkStatus(.none))
        hasRoute.withLock { $0 = true }
        let wifi = NetworkStatus(.wifi, isExpensive: true)
        system.update(wifi)
        #expect(await changes.next() == wifi)
        hasRoute.withLock { $0 = false }
        system.update(NetworkStatus(.cellular))
        #expect(await changes.next() == NetworkStatus(.none))
        hasRoute.withLock { $0 = true }
        #expect(await reachability.check() == NetworkStatus(.cellular))
        #expect(await changes.next() == NetworkStatus(.cellular))
    }

    @Test func releaseEndsTheChanges() async {
        let system = NetworkStatusHub(NetworkStatus(.wired))
        var reachability: HostReachability? = HostReachability(system: system) { true }
        let changes = reachability?.changes()
        weak let released = reachability
        reachability = nil
        if let changes { for await _ in changes {} }
        #expect(released == nil)
    }
}
