import ErrandTesting
import Synchronization
import TestSupport
import Testing

@testable import Errand

/// What happens to a member, or to a closure, that starts while its run is suspended or is to stop.
@Suite(.limited) struct MemberHandleTests {
    private let agent = AgentFixture().agent

    private func makeTask(within parent: RequestTask.Members? = nil) -> RequestTask {
        BatchRequest([]).makeTask(on: agent, within: parent)
    }

    /// Starts the closure of a node in a run; returns the number of its starts.
    private func enter(_ run: RequestTask, _ starts: Shared<Int>) -> ClosureTask {
        let node = ClosureTask()
        run.members?.enter(node, at: 0)
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

    @Test func memberThatEntersAPausedRunIsSuspendedAndResumedWithIt() {
        let run = makeTask()
        run.suspend()
        let member = makeTask(within: run.members)
        run.members?.enter(member, at: 0)
        #expect(member.phase == .suspended)
        run.resume()
        #expect(member.phase == .described)
        run.members?.leave(0)
    }

    @Test func reasonToStopTakesPrecedenceOverTheResult() async {
        let cancelled = makeTask()
        cancelled.cancel()
        #expect(await cancelled.endComposite(nil)?.code == .cancelled)
        let expired = makeTask()
        expired.stop(.deadline)
        #expect(await expired.endComposite(nil)?.code == .timedOut)
        let stopped = makeTask()
        stopped.cancel()
        var own = RequestError.cancelled
        own.message = "own"
        #expect(await stopped.endComposite(own)?.message == "own")
        #expect(await makeTask().endComposite(nil) == nil)
    }

    @Test func membersGetThePriorityOfTheRun() {
        let run = makeTask()
        let (first, second) = (makeTask(within: run.members), makeTask(within: run.members))
        run.members?.enter(first, at: 0)
        run.priority = .high
        run.members?.enter(second, at: 1)
        #expect(first.priority == .high && second.priority == .high)
        for index in 0..<2 { run.members?.leave(index) }
    }

    @Test func taskOfABatchHasItsPriority() {
        let batch = BatchRequest([])
        batch.priority = .high
        #expect(batch.makeTask(on: agent).priority == .high && makeTask().priority == .normal)
    }

    @Test func taskOfACompositeHasNoResponse() async {
        let batch = BatchRequest([])
        let task = Mutex<RequestTask?>(nil)
        _ = try? await batch.send(on: agent) { started in task.withLock { $0 = started } }
        let run = task.withLock { $0 }
        let error = await #expect(throws: RequestError.self) { try await run?.response() }
        #expect(error?.code == .invalidCombination && run?.phase == .ended)
        #expect(run?.record.state == .succeeded && run?.endpoint == "BatchRequest")
    }

    @Test func memberThatEntersAStoppedRunIsCancelled() {
        for isExpired in [false, true] {
            let run = makeTask()
            if isExpired { run.stop(.deadline) } else { run.cancel() }
            let member = makeTask(within: run.members)
            run.members?.enter(member, at: 0)
            #expect(member.phase == .cancelling)
            run.members?.leave(0)
        }
        let run = makeTask()
        let member = makeTask(within: run.members)
        run.members?.enter(member, at: 0)
        #expect(member.phase == .described)
        run.members?.leave(0)
    }
}
