import Synchronization
import TestSupport
import Testing

@testable import ErrandCore

@Suite(.limited) struct RunnerPoolTests {
    @TaskLocal static var word = ""

    /// A job that reports its number when it runs.
    private struct Job: Sendable {
        let number: Int
        let end: AsyncStream<Int>.Continuation
    }

    private func untilAsleep(_ pool: RunnerPool<Job>, _ count: Int) async {
        while pool.suspendedCount != count { await Task.yield() }
    }

    @Test func everyJobRunsOnce() async {
        let (ends, end) = AsyncStream.makeStream(of: Int.self)
        let pool = RunnerPool<Job> { $0.end.yield($0.number) }
        for number in 0..<1000 { pool.run(Job(number: number, end: end)) }
        var done: [Int] = []
        for await number in ends {
            done.append(number)
            if done.count == 1000 { break }
        }
        #expect(done.sorted() == Array(0..<1000))
    }

    @Test func sleepingRunnerIsReused() async {
        let (ends, end) = AsyncStream.makeStream(of: Int.self)
        let pool = RunnerPool<Job> { $0.end.yield($0.number) }
        var next = ends.makeAsyncIterator()
        for number in 0..<10 {
            pool.run(Job(number: number, end: end))
            #expect(await next.next() == number)
            // The runner sleeps after its job, so no second runner is made.
            await untilAsleep(pool, 1)
        }
    }

    @Test func sleepingRunnersAreLimited() async {
        let (ends, end) = AsyncStream.makeStream(of: Int.self)
        let gate = AsyncStream.makeStream(of: Void.self)
        let began = Atomic<Int>(0)
        let pool = RunnerPool<Job>(limit: 2) { job in
            began.add(1, ordering: .relaxed)
            for await _ in gate.stream {}
            job.end.yield(job.number)
        }
        for number in 0..<5 { pool.run(Job(number: number, end: end)) }
        while began.load(ordering: .relaxed) < 5 { await Task.yield() }
        gate.continuation.finish()
        var next = ends.makeAsyncIterator()
        for _ in 0..<5 { _ = await next.next() }
        await untilAsleep(pool, 2)
        for _ in 0..<100 { await Task.yield() }
        #expect(pool.suspendedCount == 2)
    }

    @Test func jobsAndPoolAreReleased() async {
        final class Token: Sendable {}
        weak var weakToken: Token?
        weak var weakPool: RunnerPool<Token>?
        do {
            let pool = RunnerPool<Token> { _ in }
            let token = Token()
            (weakToken, weakPool) = (token, pool)
            pool.run(token)
            while pool.suspendedCount != 1 { await Task.yield() }
        }
        #expect(weakToken == nil)
        #expect(weakPool == nil)
    }

    @Test func taskLocalValuesDoNotReachJobs() async {
        let (words, word) = AsyncStream.makeStream(of: String.self)
        let pool = RunnerPool<Int> { _ in word.yield(Self.word) }
        Self.$word.withValue("caller's") { pool.run(1) }
        var next = words.makeAsyncIterator()
        #expect(await next.next() == "")
    }
}
