import Dispatch
import ErrandCore
import Synchronization
import TestSupport
import Testing

@Suite(.limited) struct StartBarrierTests {
    private final class Holder: Sendable { let barrier = StartBarrier() }

    @Test func wakeUpDuringTheStartIsHeldUntilItsEnd() async {
        let holder = Holder()
        let log = Mutex<[String]>([])
        let sleeper = Mutex<UnsafeContinuation<Void, Never>?>(nil)
        let task = Task {
            await withUnsafeContinuation { continuation in sleeper.withLock { $0 = continuation } }
            log.withLock { $0.append("woken") }
        }
        while sleeper.withLock({ $0 == nil }) { await Task.yield() }
        holder.barrier.start {
            if let continuation = sleeper.withLock({ $0 }) { holder.barrier.wake(continuation) }
            log.withLock { $0.append("started") }
        }
        await task.value
        #expect(log.withLock { $0 } == ["started", "woken"])
    }

    @Test func wakeUpsAfterTheStartAreImmediate() async {
        let holder = Holder()
        holder.barrier.start {}
        await withUnsafeContinuation { holder.barrier.wake($0) }
        let other = Holder()
        await withUnsafeContinuation { other.barrier.wake($0) }
    }

    /// A wake-up arrives before or after the end of the start.
    @Test func noWakeUpIsLost() async {
        for _ in 0..<2000 {
            let holder = Holder()
            await withUnsafeContinuation { continuation in
                holder.barrier.start {
                    DispatchQueue.global().async { holder.barrier.wake(continuation) }
                }
            }
        }
    }
}
