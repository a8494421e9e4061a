import Dispatch
import Synchronization
import Testing

@testable import ErrandCore

@Suite(.timeLimit(.minutes(5))) struct StartGateTests {
    private final class Holder: Sendable { let gate = StartGate() }

    @Test func whoIsWokenDuringTheStartSleepsUntilItsEnd() async {
        let holder = Holder()
        let lines = Mutex<[String]>([])
        let sleeper = Mutex<UnsafeContinuation<Void, Never>?>(nil)
        let task = Task {
            await withUnsafeContinuation { continuation in sleeper.withLock { $0 = continuation } }
            lines.withLock { $0.append("woken") }
        }
        while sleeper.withLock({ $0 == nil }) { await Task.yield() }
        holder.gate.start {
            if let continuation = sleeper.withLock({ $0 }) { holder.gate.wake(continuation) }
            lines.withLock { $0.append("started") }
        }
        await task.value
        #expect(lines.withLock { $0 } == ["started", "woken"])
    }

    @Test func afterTheStartNobodyIsHeldBack() async {
        let holder = Holder()
        holder.gate.start {}
        await withUnsafeContinuation { holder.gate.wake($0) }
        let other = Holder()
        await withUnsafeContinuation { other.gate.wake($0) }
    }

    /// Whichever comes first, the wake-up or the end of the start, it is not lost.
    @Test func noWakeUpIsLost() async {
        for _ in 0..<2000 {
            let holder = Holder()
            await withUnsafeContinuation { continuation in
                holder.gate.start {
                    DispatchQueue.global().async { holder.gate.wake(continuation) }
                }
            }
        }
    }
}
