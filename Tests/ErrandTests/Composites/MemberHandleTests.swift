import ErrandTesting
import TestSupport
import Testing

@testable import Errand

/// What happens to a member, or to a closure, that starts while its run is suspended or is to stop.
@Suite(.limited) struct MemberHandleTests {
    private func makeTask() -> CompositeTask {
        CompositeTask(BatchRequest([BaseRequest]()), on: nil)
    }

    /// Starts the closure of a node in a run; returns the number of its starts.
    private func enter(_ run: CompositeTask, _ starts: Shared<Int>) -> ClosureTask {
        let node = ClosureTask()
        run.enter(.closure(node), at: 0)
        node.start {
            starts.value += 1
            return Task {}
        }
        return node
    }

    // MARK: - Closures of nodes

    @Test func closureStartsAtOnce() {
        let starts = Shared(0)
        _ = enter(makeTask(), starts)
        #expect(starts.value == 1)
    }

    @Test func closureOfASuspendedRunStartsWhenItIsResumed() {
        let run = makeTask()
        run.suspend()
        let starts = Shared(0)
        _ = enter(run, starts)
        #expect(starts.value == 0)
        run.resume()
        #expect(starts.value == 1)
        run.suspend()
        run.resume()
        #expect(starts.value == 1)
    }

    /// A closure that never started could not end the node.
    @Test func closureOfASuspendedRunStartsWhenItIsCancelled() {
        let run = makeTask()
        run.suspend()
        let starts = Shared(0)
        _ = enter(run, starts)
        run.cancel()
        #expect(starts.value == 1)
    }

    @Test(arguments: [true, false]) func cancellationReachesTheClosure(
        isBeforeItsStart: Bool
    ) async {
        let node = ClosureTask()
        let gate = Gate()
        if isBeforeItsStart { node.cancel() }
        let closure = Shared<Task<Void, Never>?>(nil)
        node.start {
            // Ends only by its cancellation.
            let task = Task<Void, Never> { try? await gate.passed() }
            closure.value = task
            return task
        }
        if !isBeforeItsStart { node.cancel() }
        await closure.value?.value
        #expect(closure.value?.isCancelled == true)
    }

    // MARK: - Members

    @Test func memberThatEntersAStoppedRunIsCancelled() {
        for isExpired in [false, true] {
            let run = makeTask()
            if isExpired { run.expire(after: .seconds(1)) } else { run.cancel() }
            let member = CompositeTask(BatchRequest([BaseRequest]()), within: run)
            run.enter(.composite(member), at: 0)
            #expect(member.isCancelled)
            run.leave(0)
        }
        let run = makeTask()
        let member = CompositeTask(BatchRequest([BaseRequest]()), within: run)
        run.enter(.composite(member), at: 0)
        #expect(!member.isCancelled)
        run.leave(0)
    }
}
