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
            let task = request.stream(owner: owner()) { [log] request, chunk in
                let (status, text) = (
                    request.response?.statusCode ?? 0, String(decoding: chunk, as: UTF8.self)
                )
                log.lines.append("chunk \(status) \(text)")
                onChunk(started.withLock { $0 })
            } success: { [log] request in
                log.lines.append("success")
                continuation.resume(returning: request.result ?? .failure(.cancelled))
            } failure: { [log] _, error in
                log.lines.append("failure")
                continuation.resume(returning: .failure(error))
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
                "chunk 200 a", "chunk 200 b", "willStop accessory", "didFinish",
                "delegate finished", "success", "didStop accessory",
            ])
        #expect(fixture.agent.activeTasks.isEmpty)
    }

    @Test func theClosuresOfAnInterruptedStream() async {
        fixture.transport.on(.get, "/feed", .stream(.text("a"), .interruption))
        let result = await run(recording())
        #expect(result.failure?.code == .connectionLost && result.failure?.bytesReceived == 1)
        #expect(log.lines.prefix(3) == ["willStart accessory", "willStart", "chunk 200 a"])
    }

    @Test func theClosuresOfARefusedStream() async {
        fixture.transport.on(.get, "/feed", .json("{}", status: .notFound))
        let result = await run(recording())
        #expect(result.failure?.code == .unacceptableStatus)
        #expect(!log.lines.contains { $0.hasPrefix("chunk") })
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
}
