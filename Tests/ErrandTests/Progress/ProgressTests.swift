import Errand
import ErrandCore
import ErrandHTTP
import ErrandTesting
import ErrandTransport
import Foundation
import Synchronization
import TestSupport
import Testing

@Suite(.limited) @MainActor struct ProgressTests {
    private static let chunks = (0..<10).map { _ in Data(repeating: 1, count: 10) }

    private func chunkedResponse(_ total: Int64?, gate: Gate? = nil) -> ScriptedResponse {
        var steps: [ScriptedResponse.Step] = [
            .head(ResponseHead(status: .ok, httpVersion: .http11, contentLength: total))
        ]
        steps += Self.chunks.map { .bytes($0) }
        if let gate { steps.append(.hold(gate)) }
        return ScriptedResponse(steps: steps)
    }

    @Test(arguments: [100, nil])
    func progressClosureReceivesTheFinalValueBeforeTheEnd(total: Int64?) async {
        let fixture = AgentFixture()
        fixture.transport.on(nil, nil, chunkedResponse(total))
        var lines: [String] = []
        await withCheckedContinuation { continuation in
            fixture.with(DataRequest()).onProgress { request, progress in
                lines.append("\(progress.bytesReceived) of \(progress.totalBytesToReceive ?? -1)")
            }.start { _ in
                lines.append("end")
                continuation.resume()
            } failure: { _, error in
                lines.append("\(error)")
                continuation.resume()
            }
        }
        #expect(lines.suffix(2) == ["100 of 100", "end"])
    }

    @Test func progressClosureIsCalledForARunThatTheMainActorAwaits() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(nil, nil, chunkedResponse(100))
        var received: [Int64] = []
        let request = fixture.with(GetBytes()).onProgress { received.append($1.bytesReceived) }
        try await request.send()
        #expect(received.last == 100)
        received = []
        request.onProgress { received.append($1.bytesReceived) }
        #expect(try await request.value().count == 100)
        #expect(received.last == 100)
        received = []
        try await request.send()
        #expect(received == [], "the closure was released")
    }

    @Test func progressClosureIsNotCalledForARunOnAnotherActor() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(nil, nil, chunkedResponse(100))
        try await Task.detached {
            let request = fixture.with(DataRequest()).onProgress { _, _ in
                Issue.record("the request is not on the main actor")
            }
            try await request.send()
        }.value
    }

    @Test func handlerOfATaskIsCalledForEveryWayOfStarting() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(nil, nil, chunkedResponse(100))
        let last = Mutex<[TransferProgress]>([])
        let handler: @Sendable (TransferProgress) -> Void = { progress in
            last.withLock { $0.append(progress) }
        }
        try await fixture.with(DataRequest()).send { $0.onProgress(handler) }
        #expect(last.withLock { $0.last }?.fractionCompleted == 1)
        last.withLock { $0 = [] }
        let inline = InlineRequest("x") { $0.acceptance.format = .any }
        try await fixture.with(inline).send { $0.onProgress(handler) }
        #expect(last.withLock { $0.last }?.bytesReceived == 100)
    }

    @Test func handlerOfARunningRequestBeginsWithTheReceivedBytes() async throws {
        let fixture = AgentFixture()
        let gate = Gate()
        fixture.transport.on(nil, nil, chunkedResponse(100, gate: gate))
        let task = fixture.agent.start(DataRequest().makeDescription())
        for await progress in task.progress where progress.bytesReceived == 100 { break }
        let first = await withCheckedContinuation { continuation in
            let waiting = Mutex<CheckedContinuation<Int64, Never>?>(continuation)
            task.onProgress { progress in
                waiting.withLock { $0.take() }?.resume(returning: progress.bytesReceived)
            }
        }
        #expect(first == 100)
        #expect(task.foundationProgress().completedUnitCount == 100)
        gate.open()
        _ = try await task.response()
    }

    @Test func handlerOfARunningBatchBeginsWithTheReceivedBytes() async throws {
        let fixture = AgentFixture()
        let gate = Gate()
        fixture.transport.on(nil, nil, chunkedResponse(100, gate: gate))
        let batch = BatchRequest((0..<2).map { _ in fixture.with(DataRequest()) })
        let (ends, end) = AsyncStream.makeStream(of: Bool.self)
        let run = batch.start { _ in
            end.yield(true)
        } failure: { _, _ in
            end.yield(false)
        }
        try await gate.reached(times: 2)
        for task in fixture.agent.activeTasks {
            for await progress in task.progress where progress.bytesReceived == 100 { break }
        }
        let foundation = run.foundationProgress()
        #expect(foundation.completedUnitCount == 200 && foundation.totalUnitCount == 200)
        let (values, value) = AsyncStream.makeStream(of: TransferProgress.self)
        run.onProgress(every: .zero) { value.yield($0) }
        var iterator = values.makeAsyncIterator()
        let first = try #require(await iterator.next())
        #expect(first.bytesReceived == 200)
        gate.open()
        for await isSuccess in ends {
            #expect(isSuccess)
            break
        }
        value.finish()
        var all = [first]
        while let next = await iterator.next() { all.append(next) }
        // Neither the first value nor the ends of the members repeat a value.
        #expect(zip(all, all.dropFirst()).allSatisfy { $0 != $1 })
    }

    @Test func endWaitsForARunningProgressHandler() async {
        let fixture = AgentFixture()
        fixture.transport.on(nil, nil, .silence)
        let task = fixture.agent.start(DataRequest().makeDescription())
        let lines = Mutex<[String]>([])
        let proceed = DispatchSemaphore(value: 0)
        await withCheckedContinuation { entered in
            task.onProgress(every: .seconds(3600)) { progress in
                if progress.bytesReceived == 1 {
                    entered.resume()
                    proceed.wait()
                }
                lines.withLock { $0.append("\(progress.bytesReceived)") }
            }
            DispatchQueue.global().async {
                task.hub.update { $0.bytesReceived = 1 }
            }
        }
        task.hub.update { $0.bytesReceived = 2 }
        let ended = Mutex(false)
        task.whenEnded { _ in
            ended.withLock { $0 = true }
            lines.withLock { $0.append("end") }
        }
        task.cancel()
        // Another request runs to its end meanwhile.
        let other = AgentFixture()
        other.transport.on(nil, nil, .json("{}"))
        _ = try? await other.with(Plain("x")).send()
        #expect(!ended.withLock { $0 })
        proceed.signal()
        await task.untilEnded()
        #expect(lines.withLock { $0 } == ["1", "2", "end"])
    }

    @Test func throttledSequenceEndsWithTheFinalValue() async throws {
        let fixture = AgentFixture()
        let gate = Gate()
        fixture.transport.on(nil, nil, chunkedResponse(nil, gate: gate))
        let task = fixture.agent.start(DataRequest().makeDescription())
        let updates = task.progress.throttled(every: .seconds(1))
        try await gate.reached()
        var seen: [Int64] = []
        gate.open()
        for await progress in updates { seen.append(progress.bytesReceived) }
        #expect(seen.last == 100 && seen.count <= 2)
    }

    @Test(arguments: ["data", "file", "stream", "multipart"])
    func sentBytesAreCountedForEveryKindOfBody(kind: String) async throws {
        let server = LoopbackServer()
        server.route(
            "/upload",
            responses: LoopbackResponse(headers: ["Content-Type": "text/plain"], body: "thanks"))
        try await server.start()
        let bytes = Data(repeating: 7, count: 300_000)
        let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try bytes.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let agent = RequestAgent(
            configuration: Configuration(baseURL: server.baseURL), store: nil)
        let body: HTTPBody =
            switch kind {
            case "data": .data(bytes)
            case "file": .file(file)
            case "multipart": .multipart([.file("f", file), .text("a", "b")])
            default:
                .stream {
                    AsyncStream { stream in
                        for _ in 0..<3 { stream.yield(bytes.prefix(100_000)) }
                        stream.finish()
                    }
                }
            }
        let request = UploadRequest(body)
        let received = Mutex<[TransferProgress]>([])
        let task = agent.start(request.makeDescription())
        task.onProgress(every: .zero) { progress in received.withLock { $0.append(progress) } }
        _ = try await task.response()
        let last = try #require(received.withLock { $0.last })
        #expect(last.bytesSent >= 300_000 && last.totalBytesToSend == last.bytesSent)
        #expect(last.bytesReceived == 6 && last.fractionCompleted == 1)
        #expect(last.fractionSent == 1 && last.fractionReceived == 1)
        if kind != "stream" {
            let totals = received.withLock {
                $0.filter { $0.bytesSent > 0 }.map(\.totalBytesToSend)
            }
            #expect(Set(totals) == [last.bytesSent])
        }
        await agent.shutdown()
        await server.stop()
    }

    @Test func foundationProgressControlsAndReportsTheTask() async throws {
        let fixture = AgentFixture()
        let gate = Gate()
        fixture.transport.on(nil, nil, chunkedResponse(100, gate: gate))
        let task = fixture.agent.start(DataRequest().makeDescription())
        let progress = task.foundationProgress()
        progress.pause()
        // Foundation calls the pausing and resuming handlers on its own queue.
        try await fixture.events.until { $0.contains { "\($0.kind)" == "suspended" } }
        progress.resume()
        try await fixture.events.until { $0.contains { "\($0.kind)" == "continued" } }
        try await gate.reached()
        gate.open()
        _ = try await task.response()
        #expect(progress.completedUnitCount == 100 && progress.totalUnitCount == 100)
        let silent = AgentFixture()
        silent.transport.on(nil, nil, .silence)
        let other = silent.agent.start(DataRequest().makeDescription())
        let indeterminate = other.foundationProgress()
        #expect(indeterminate.isIndeterminate)
        indeterminate.cancel()
        let error = await #expect(throws: RequestError.self) { try await other.response() }
        #expect(error?.code == .cancelled)
    }

    @Test func batchProgressSumsTheBytesOfItsMembers() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(nil, nil, chunkedResponse(100))
        var task: RequestTask?
        await withCheckedContinuation { continuation in
            let batch = BatchRequest((0..<3).map { _ in fixture.with(DataRequest()) })
            task = batch.start { _ in
                continuation.resume()
            } failure: { _, _ in
                continuation.resume()
            }
        }
        let sum = try #require(task?.progress.current)
        #expect(sum.bytesReceived == 300 && sum.fractionCompleted == 1)
    }

    @Test func progressOfABatchIsReportedToClosureAndFoundation() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(nil, nil, chunkedResponse(100))
        let batch = BatchRequest((0..<3).map { _ in fixture.with(DataRequest()) })
        let seen = Mutex<[TransferProgress]>([])
        var foundation: Progress?
        try await batch.send { task in
            task.onProgress(every: .zero) { progress in seen.withLock { $0.append(progress) } }
            foundation = task.foundationProgress()
        }
        #expect(seen.withLock { $0.last }?.bytesReceived == 300)
        #expect(seen.withLock { $0.last }?.fractionCompleted == 1)
        let counts = seen.withLock { $0.map(\.bytesReceived) }
        #expect(counts == counts.sorted() && Set(counts).count > 1)
        #expect(foundation?.completedUnitCount == 300 && foundation?.totalUnitCount == 300)
    }

    @Test func foundationProgressCancelsABatch() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(nil, nil, .silence)
        let batch = BatchRequest([fixture.with(DataRequest())])
        let error = await #expect(throws: RequestError.self) {
            try await batch.send { $0.foundationProgress().cancel() }
        }
        #expect(error?.code == .cancelled)
    }

    /// So that the upload alone does not complete the progress.
    @Test func responseOfUnknownLengthCountsAsOneByte() {
        let progress = Progress(cancel: {}, suspend: {}, resume: {})
        var update = TransferProgress()
        (update.bytesSent, update.totalBytesToSend) = (100, 300)
        progress.take(update)
        #expect(progress.completedUnitCount == 100 && progress.totalUnitCount == 301)
        update.bytesSent = 300
        progress.take(update)
        #expect(progress.completedUnitCount == 300 && !progress.isFinished)
        (update.bytesReceived, update.totalBytesToReceive) = (6, 6)
        progress.take(update)
        #expect(progress.totalUnitCount == 306 && progress.isFinished)
    }

    /// The rate is that of the upload until its end.
    @Test func rateIsThatOfTheCurrentDirection() {
        let progress = Progress(cancel: nil, suspend: {}, resume: {})
        #expect(!progress.isCancellable)
        var update = TransferProgress()
        (update.bytesSentPerSecond, update.bytesReceivedPerSecond) = (300, 200)
        progress.take(update)
        #expect(progress.userInfo[.throughputKey] as? Int == 300)
        update.bytesReceived = 1
        progress.take(update)
        #expect(progress.userInfo[.throughputKey] as? Int == 200)
        // The response begins before the end of the upload.
        update.totalBytesToSend = 10
        progress.take(update)
        #expect(progress.userInfo[.throughputKey] as? Int == 300)
        update.bytesSent = 10
        progress.take(update)
        #expect(progress.userInfo[.throughputKey] as? Int == 200)
        (update.bytesReceived, update.totalBytesToReceive) = (0, 10)
        progress.take(update)
        #expect(progress.userInfo[.throughputKey] as? Int == 200)
    }

    private final class GetBytes: BaseRequest, TypedRequest {
        override var url: EndpointURL { "x" }
        var decoder: ResponseDecoder<Data> { .data }
    }

    private final class DataRequest: BaseRequest {
        override var url: EndpointURL { "x" }
        override func configure(_ request: inout RequestDescription) {
            super.configure(&request)
            request.acceptance.format = .any
        }
    }

    private final class UploadRequest: BaseRequest {
        private let content: HTTPBody
        init(_ content: HTTPBody) { self.content = content }
        override var url: EndpointURL { "upload" }
        override var method: HTTPMethod { .post }
        override var body: HTTPBody? { content }
        override func configure(_ request: inout RequestDescription) {
            super.configure(&request)
            request.acceptance.format = .text
        }
    }
}
