import Testing

@testable import ErrandCurl

/// A check of the idle sockets counts until time has passed, for those that were idle before it.
struct IdleCheckTests {
    @Test func recentCheckCountsForEarlierSockets() {
        var check = IdleCheck()
        let first = check.count
        #expect(!check.isKnownIdle(since: first))
        check.checked(isIdle: true)
        #expect(check.isKnownIdle(since: first) && !check.isKnownIdle(since: check.count))
        check.expire()
        #expect(!check.isKnownIdle(since: first))
        check.checked(isIdle: false)
        #expect(!check.isKnownIdle(since: first))
    }
}
