import Errand
import ErrandTesting
import ErrandTransport
import Foundation
import Synchronization
import TestSupport
import Testing

/// A reader that loses interest ends the transfer, in every phase.
@Suite(.limited) struct StreamCancellationTests {
    private let fixture = AgentFixture()
    private let gate = Gate()

    @Test func leavingTheLoopEndsTheTransfer() async throws {
        let stream = try await fixture.feed(.text("a\nb\n"), .hold(gate))
        for try await line in stream.lines {
            #expect(line == "a")
            break
        }
        try await fixture.expectOneEnd(stream.task, .cancelled)
        #expect(await stream.readToEnd().error?.code == .invalidCombination)
    }

    @Test func releasingAnUnreadStreamEndsTheTransfer() async throws {
        let task: RequestTask
        do {
            task = try await fixture.feed(.text("a"), .hold(gate)).task
        }
        try await fixture.expectOneEnd(task, .cancelled)
    }

    @Test func releasingAPausedStreamEndsTheTransfer() async throws {
        let task: RequestTask
        do {
            let steps = (0..<8).map { _ in ScriptedResponse.Step.bytes(Data(count: 32 << 10)) }
            fixture.transport.on(.get, "/feed", .stream(steps + [.hold(gate)]))
            let stream = try await Feed().stream(on: fixture.agent)
            task = stream.task
            try await fixture.untilReceived(64 << 10, task)
        }
        try await fixture.expectOneEnd(task, .cancelled)
    }

    @Test func cancellingTheSwiftTaskBeforeTheHead() async throws {
        fixture.transport.on(.get, "/feed", .stream(.text("a")).held(by: gate))
        let started = Mutex<RequestTask?>(nil)
        let work = Task { [agent = fixture.agent] () -> RequestError? in
            do throws(RequestError) {
                _ = try await Feed().stream(on: agent) { task in started.withLock { $0 = task } }
                return nil
            } catch {
                return error
            }
        }
        try await gate.reached()
        work.cancel()
        #expect(await work.value?.code == .cancelled)
        try await fixture.expectOneEnd(try #require(started.withLock { $0 }), .cancelled)
    }

    @Test func aCancelledSwiftTaskSendsNothing() async throws {
        let open = Gate()
        let work = Task { [agent = fixture.agent] () -> RequestError? in
            try? await open.passed()
            do throws(RequestError) {
                _ = try await Feed().stream(on: agent)
                return nil
            } catch {
                return error
            }
        }
        work.cancel()
        #expect(await work.value?.code == .cancelled)
        #expect(fixture.transport.requestCount == 0 && fixture.agent.activeTasks.isEmpty)
        #expect(fixture.events.names.count { $0 == "ended" } == 1)
    }

    @Test func cancellingTheSwiftTaskInNext() async throws {
        let stream = try await fixture.feed(.text("a"), .hold(gate))
        let read = Gate()
        let work = Task { () -> StreamReading in
            var reading = StreamReading()
            do throws(RequestError) {
                for try await chunk in stream.bytes {
                    reading.bytes += chunk
                    read.open()
                }
            } catch {
                reading.error = error
            }
            return reading
        }
        while !read.isOpen { await Task.yield() }
        work.cancel()
        let reading = await work.value
        #expect(reading.text == "a" && reading.error?.code == .cancelled)
        #expect(reading.error?.endpoint == "Feed")
        try await fixture.expectOneEnd(stream.task, .cancelled)
    }

    /// The reader never suspends, because bytes are always there.
    @Test func cancellingTheSwiftTaskBetweenReads() async throws {
        let steps = (0..<100).map { _ in ScriptedResponse.Step.bytes(Data(count: 64 << 10)) }
        fixture.transport.on(.get, "/feed", .stream(steps + [.hold(gate)]))
        let stream = try await Feed().stream(on: fixture.agent)
        let work = Task { () -> StreamReading in
            var reading = StreamReading()
            do throws(RequestError) {
                for try await _ in stream.bytes {
                    reading.chunks += 1
                    withUnsafeCurrentTask { $0?.cancel() }
                }
            } catch {
                reading.error = error
            }
            return reading
        }
        let reading = await work.value
        #expect(reading.chunks == 1 && reading.error?.code == .cancelled)
        try await fixture.expectOneEnd(stream.task, .cancelled)
    }

    /// Lines are parsed before they are asked for.
    @Test func cancellingTheSwiftTaskDiscardsParsedLines() async throws {
        fixture.transport.on(.get, "/feed", .stream([.text("1\n2\n3\n"), .hold(gate)]))
        let stream = try await Feed().stream(on: fixture.agent)
        let work = Task { () -> ([String], RequestError?) in
            var lines: [String] = []
            do throws(RequestError) {
                for try await line in stream.lines {
                    lines.append(line)
                    if line == "2" { withUnsafeCurrentTask { $0?.cancel() } }
                }
            } catch {
                return (lines, error)
            }
            return (lines, nil)
        }
        let (lines, error) = await work.value
        #expect(lines == ["1", "2"] && error?.code == .cancelled)
        try await fixture.expectOneEnd(stream.task, .cancelled)
    }

    @Test func cancellingTheSwiftTaskAfterTheTransferHasEnded() async throws {
        let stream = try await fixture.feed(.text("a"))
        _ = try await stream.task.response()
        let work = Task { () -> StreamReading in
            withUnsafeCurrentTask { $0?.cancel() }
            return await stream.readToEnd()
        }
        let reading = await work.value
        #expect(reading.chunks == 0 && reading.error?.code == .cancelled)
        // The task had its end before.
        try await fixture.expectOneEnd(stream.task, nil)
    }

    // MARK: - The task

    @Test func cancellingTheTaskBeforeTheHead() async throws {
        fixture.transport.on(.get, "/feed", .stream(.text("a")).held(by: gate))
        let started = Mutex<RequestTask?>(nil)
        let work = Task { [agent = fixture.agent] in
            try await Feed().stream(on: agent) { task in started.withLock { $0 = task } }
        }
        try await gate.reached()
        let task = try #require(started.withLock { $0 })
        task.cancel()
        let error = await #expect(throws: RequestError.self) { try await work.value }
        #expect(error?.code == .cancelled)
        try await fixture.expectOneEnd(task, .cancelled)
    }

    @Test func cancellingTheTaskInOnStartSendsNothing() async throws {
        let error = await #expect(throws: RequestError.self) {
            try await Feed().stream(on: fixture.agent) { $0.cancel() }
        }
        #expect(error?.code == .cancelled && fixture.transport.requestCount == 0)
        #expect(fixture.agent.activeTasks.isEmpty)
    }

    @Test func cancellingTheTaskBetweenHeadAndRead() async throws {
        let stream = try await fixture.feed(.hold(gate))
        stream.task.cancel()
        let reading = await stream.readToEnd()
        #expect(reading.chunks == 0 && reading.error?.code == .cancelled)
        #expect(reading.error?.bytesReceived == 0)
        try await fixture.expectOneEnd(stream.task, .cancelled)
    }

    /// No bytes are given after `cancel()` has returned.
    @Test func cancellingTheTaskDiscardsBufferedBytes() async throws {
        for _ in 0..<50 {
            let fixture = AgentFixture()
            let hold = Gate()
            let stream = try await fixture.feed(.text("a"), .hold(hold))
            try await hold.reached()
            stream.task.cancel()
            let reading = await stream.readToEnd()
            #expect(reading.chunks == 0 && reading.error?.code == .cancelled)
            #expect(reading.error?.bytesReceived == 1)
            try await fixture.expectOneEnd(stream.task, .cancelled)
        }
    }

    @Test func cancellingTheTaskWakesAWaitingReader() async throws {
        let stream = try await fixture.feed(.text("a"), .hold(gate))
        let read = Gate()
        let work = Task { () -> RequestError? in
            var iterator = stream.bytes.makeAsyncIterator()
            do throws(RequestError) {
                while try await iterator.next() != nil { read.open() }
                return nil
            } catch {
                return error
            }
        }
        while !read.isOpen { await Task.yield() }
        stream.task.cancel()
        #expect(await work.value?.code == .cancelled)
        try await fixture.expectOneEnd(stream.task, .cancelled)
    }

    @Test func cancellingTheTaskAfterItsEndHasNoEffect() async throws {
        let stream = try await fixture.feed(.text("a"))
        _ = try await stream.task.response()
        stream.task.cancel()
        #expect(await stream.readToEnd().text == "a")
        try await fixture.expectOneEnd(stream.task, nil)
    }

    @Test func everyWayToCancelEmitsOneEvent() async throws {
        let stream = try await fixture.feed(.text("a"), .hold(gate))
        stream.task.cancel()
        fixture.agent.cancelAll()
        stream.task.cancel()
        _ = await stream.readToEnd()
        try await fixture.expectOneEnd(stream.task, .cancelled)
        #expect(fixture.events.names.count { $0 == "cancelled" } == 1)
    }

    /// The transfer has its head before `start` returns, and the task is cancelled in between.
    @Test func cancellationAtTheHeadIsNotAnInterruption() async throws {
        let transport = HeadInStartTransport()
        let agent = RequestAgent(
            configuration: Configuration(baseURL: "https://api.example.com/"), transport: transport)
        transport.afterHead { for task in agent.activeTasks { task.cancel() } }
        let error = await #expect(throws: RequestError.self) { try await Feed().stream(on: agent) }
        #expect(error?.code == .cancelled && error?.bytesReceived == nil)
        #expect(agent.activeTasks.isEmpty && transport.hasEnded)
    }
}

/// A transport whose transfers deliver their head before `start` returns, and end when they are cancelled.
private final class HeadInStartTransport: Transport {
    private final class Held: Transfer {
        private let receiver: Mutex<(any TransferReceiver)?>
        init(_ receiver: any TransferReceiver) { self.receiver = Mutex(receiver) }
        var hasEnded: Bool { receiver.withLock { $0 == nil } }
        func resumeReceiving() {}
        func cancel() {
            let receiver = receiver.withLock { $0.take() }
            receiver?.didEnd(TransferEnd(error: .cancelled))
        }
    }

    private let closure = Mutex<(@Sendable () -> Void)?>(nil)
    private let held = Mutex<Held?>(nil)

    var name: String { "head" }
    var hasEnded: Bool { held.withLock { $0?.hasEnded == true } }
    func afterHead(_ body: @escaping @Sendable () -> Void) { closure.withLock { $0 = body } }
    func check(_ request: TransportRequest) throws(RequestError) {}
    func shutDown() {}

    func start(_ request: TransportRequest, receiver: any TransferReceiver) -> any Transfer {
        let transfer = Held(receiver)
        held.withLock { $0 = transfer }
        receiver.didReceive(head: ResponseHead(status: .ok, httpVersion: .http11))
        // The closure holds the agent, which holds this transport.
        closure.withLock { $0.take() }?()
        return transfer
    }
}
