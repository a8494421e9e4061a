import Dispatch
import Errand
import ErrandTesting
import ErrandTransport
import Foundation
import Synchronization
import TestSupport
import Testing

/// Hooks, delegate and accessories of streamed requests, and the closures of `start`.
@Suite(.limited) @MainActor struct StreamHookTests {
    private let fixture = AgentFixture()
    private let gate = Gate()
    private let log = CallbackLog()

    private func recording() -> RecordingRequest {
        fixture.with(RecordingRequest("feed", log: log))
    }

    private static let started = ["willStart accessory", "willStart"]
    private static let finished = [
        "willStop accessory", "didFinish", "delegate finished", "didStop accessory",
    ]
    private static let failed = [
        "willStop accessory", "didFail", "delegate failed", "didStop accessory",
    ]

    @Test func theHooksOfStreamAreCalledUpToTheHead() async throws {
        fixture.transport.on(.get, "/feed", .stream(.text("a"), .hold(gate)))
        let request = recording()
        let stream = try await request.stream { task in
            log.lines.append("onStart \(task.phase)")
        }
        let expected = Self.started + ["onStart described"] + Self.finished
        #expect(log.lines == expected)
        #expect(request.response?.status == .ok && request.response?.isStreamed == true)
        #expect(request.response?.data.isEmpty == true)
        gate.open()
        #expect(await stream.readToEnd().text == "a")
        // The end of the body is not reported to the object, which is free.
        #expect(log.lines == expected)
    }

    @Test func theHooksOfARefusedStream() async {
        fixture.transport.on(.get, "/feed", .json("{}", status: .notFound))
        let request = recording()
        await #expect(throws: RequestError.self) { try await request.stream() }
        #expect(log.lines == Self.started + Self.failed)
        #expect(request.error?.code == .unacceptableStatus)
    }

    @Test func aRequestIsStreamedAgainWhileItsStreamIsRead() async throws {
        fixture.transport.on(.get, "/feed", .stream(.text("a"), .hold(gate), .text("b")))
        let request = fixture.with(Feed())
        let streams = [try await request.stream(), try await request.stream()]
        gate.open()
        for stream in streams { #expect(await stream.readToEnd().text == "ab") }
        #expect(fixture.agent.activeTasks.isEmpty)
    }

    // MARK: - Closures on the main actor

    private func run(
        _ request: RecordingRequest,
        onChunk: @escaping @MainActor (RequestTask?) -> Void = { _ in },
        owner: () -> RequestOwner? = { nil }
    ) async -> Result<Response, RequestError> {
        let started = Mutex<RequestTask?>(nil)
        return await withCheckedContinuation { continuation in
            let task = request.start(owner: owner()) { [log] _, response in
                log.lines.append("head \(response.status.code)")
            } onChunk: { [log] _, chunk in
                log.lines.append("chunk \(String(decoding: chunk, as: UTF8.self))")
                onChunk(started.withLock { $0 })
            } completion: { [log] _, result in
                log.lines.append("completion")
                continuation.resume(returning: result)
            }
            started.withLock { $0 = task }
        }
    }

    @Test func theClosuresOfStartAreCalledInOrder() async throws {
        fixture.transport.on(.get, "/feed", .stream(.text("a"), .hold(gate), .text("b")))
        let result = await run(recording()) { [gate] _ in gate.open() }
        #expect(try result.get().status == .ok)
        for _ in 0..<1000 where log.lines.last != "didStop accessory" { await Task.yield() }
        #expect(
            log.lines == Self.started + [
                "head 200", "chunk a", "chunk b", "willStop accessory", "didFinish",
                "delegate finished", "completion", "didStop accessory",
            ])
        #expect(fixture.agent.activeTasks.isEmpty)
    }

    @Test func theClosuresOfAnInterruptedStream() async {
        fixture.transport.on(.get, "/feed", .stream(.text("a"), .interruption))
        let result = await run(recording())
        #expect(result.failure?.code == .connectionLost && result.failure?.bytesReceived == 1)
        #expect(log.lines.prefix(4) == ["willStart accessory", "willStart", "head 200", "chunk a"])
    }

    @Test func theClosuresOfARefusedStream() async {
        fixture.transport.on(.get, "/feed", .json("{}", status: .notFound))
        let result = await run(recording())
        #expect(result.failure?.code == .unacceptableStatus)
        #expect(!log.lines.contains { $0.hasPrefix("head") || $0.hasPrefix("chunk") })
    }

    /// The second chunk has arrived when the closure cancels the task, and is not given.
    @Test func noChunkFollowsACancellation() async {
        fixture.transport.on(.get, "/feed", .stream(.text("a"), .text("b"), .hold(gate)))
        let result = await run(recording()) { $0?.cancel() }
        #expect(result.failure?.code == .cancelled)
        #expect(log.lines.count { $0.hasPrefix("chunk") } == 1)
        #expect(log.lines.count { $0 == "willCancel accessory" } == 1)
    }

    @Test func aReleasedOwnerEndsTheStream() async throws {
        fixture.transport.on(.get, "/feed", .stream(.text("a"), .hold(gate)))
        let owner = Mutex<RequestOwner?>(RequestOwner())
        let result = await run(
            recording(), onChunk: { _ in owner.withLock { $0 = nil } },
            owner: { owner.withLock { $0 } })
        #expect(result.failure?.code == .cancelled)
        try await fixture.transport.untilIdle()
        #expect(fixture.agent.activeTasks.isEmpty)
    }

    @Test func suspendAndResumeAreReportedToAccessories() async throws {
        fixture.transport.on(.get, "/feed", .stream(.text("a"), .hold(gate), .text("b")))
        let result = await run(recording()) { [gate] task in
            guard !gate.isOpen else { return }
            task?.suspend()
            gate.open()
            task?.resume()
        }
        #expect(try result.get().status == .ok)
        #expect(log.lines.contains("willSuspend accessory"))
        #expect(log.lines.contains("didResume accessory"))
    }

    // MARK: - Closures on a queue

    @Test func theClosuresOnAQueueAreCalledInOrder() async throws {
        fixture.transport.on(.get, "/feed", .stream(.text("a"), .hold(gate), .text("b")))
        let queue = DispatchQueue(label: "closures")
        let lines = Mutex<[String]>([])
        let request = recording()
        let result: Result<Response, RequestError> = await withCheckedContinuation { continuation in
            request.start(on: queue) { response in
                dispatchPrecondition(condition: .onQueue(queue))
                lines.withLock { $0.append("head \(response.status.code)") }
            } onChunk: { [gate] chunk in
                dispatchPrecondition(condition: .onQueue(queue))
                lines.withLock { $0.append(String(decoding: chunk, as: UTF8.self)) }
                gate.open()
            } completion: { result in
                dispatchPrecondition(condition: .onQueue(queue))
                continuation.resume(returning: result)
            }
        }
        #expect(try result.get().isStreamed)
        #expect(lines.withLock { $0 } == ["head 200", "a", "b"])
        // The object stays with its actor.
        #expect(log.lines.isEmpty && request.response == nil)
        #expect(fixture.agent.activeTasks.isEmpty)
    }

    @Test func aQueueThatIsBusyStopsTheTransfer() async throws {
        let steps = (0..<64).map { _ in ScriptedResponse.Step.bytes(Data(count: 16 << 10)) }
        fixture.transport.on(.get, "/feed", .stream(steps))
        let queue = DispatchQueue(label: "closures")
        let total = Mutex(0)
        let blocker = DispatchSemaphore(value: 0)
        queue.async { blocker.wait() }
        let ended = Gate()
        let task = fixture.agent.start(Feed(), on: queue) { chunk in
            total.withLock { $0 += chunk.count }
        } completion: { _ in
            ended.open()
        }
        try await fixture.untilReceived(64 << 10, task)
        #expect(total.withLock { $0 } == 0 && task.progress.current.bytesReceived <= 80 << 10)
        blocker.signal()
        try await ended.passed()
        #expect(total.withLock { $0 } == 1 << 20)
    }
}
