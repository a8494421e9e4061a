import ErrandHTTP
import Synchronization
import Testing

@Suite struct SystemThreadTests {
    @Test func runsItsWork() async {
        await withCheckedContinuation { continuation in
            if !SystemThread.start({ continuation.resume() }) { continuation.resume() }
        }
    }

    /// No system has memory for a stack of this size.
    @Test func releasesTheWorkOfAThreadThatCannotBeCreated() {
        final class Owner: Sendable {}
        var owner: Owner? = Owner()
        weak let released = owner
        let hasRun = Atomic(false)
        let isStarted = SystemThread.start(stackSize: 1 << 60) { [owner] in
            hasRun.store(owner != nil, ordering: .relaxed)
        }
        owner = nil
        #expect(!isStarted)
        let hasEverRun = hasRun.load(ordering: .relaxed)
        #expect(!hasEverRun)
        #expect(released == nil)
    }
}
