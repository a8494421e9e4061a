import Errand
import ErrandTesting
import ErrandTransport
import Foundation
import Synchronization
import TestSupport
import Testing

/// Rate and time left of a running request, by the agent's clock.
@Suite(.limited) struct TransferRateProgressTests {
    private let fixture = AgentFixture { $0.limits.total = 1 }

    private func description(_ url: String = "file") -> RequestDescription {
        var description = RequestDescription(endpoint: "File", url: EndpointURL(raw: url))
        description.acceptance.format = .any
        return description
    }

    @Test func closureSequenceAndFoundationShowRateAndTimeLeft() async throws {
        let gates = [Gate(), Gate()]
        let head = ResponseHead(status: .ok, httpVersion: .http11, contentLength: 3000)
        fixture.transport.on(
            nil, nil,
            ScriptedResponse(steps: [
                .head(head), .hold(gates[0]), .bytes(Data(count: 1000)), .hold(gates[1]),
                .bytes(Data(count: 2000)),
            ]))
        let task = fixture.agent.start(description())
        try await gates[0].reached()
        let seen = Mutex<[TransferProgress]>([])
        let foundation = task.foundationProgress()
        task.onProgress(every: .zero) { progress in seen.withLock { $0.append(progress) } }
        #expect(task.progress.current.bytesReceivedPerSecond == nil)
        #expect(task.progress.current.timeLeft == nil)

        fixture.clock.advance(by: .seconds(2))
        gates[0].open()
        for await progress in task.progress where progress.bytesReceived == 1000 {
            #expect(progress.bytesReceivedPerSecond == 500 && progress.timeLeft == .seconds(4))
            break
        }
        try await gates[1].reached()
        gates[1].open()
        _ = try await task.response()
        #expect(task.progress.current.timeLeft == .zero)
        #expect(seen.withLock { $0.last }?.bytesReceivedPerSecond == 500)
        #expect(foundation.userInfo[.throughputKey] as? Int == 500)
        #expect(foundation.userInfo[.estimatedTimeRemainingKey] as? Double == 0)
    }

    /// The rate counts the bytes of this attempt, not those that were on the disk.
    @Test func rateOfADownloadCountsFromTheResumedOffset() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("errand-rate-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let gate = Gate()
        let first = ScriptedResponse(steps: [
            .head(ResponseHead(status: .ok, headers: [.eTag: "\"v1\""], contentLength: 10_000)),
            .bytes(Data(count: 8000)),
            .fail(RequestError(.connectionLost, stage: .transport, "cut")),
        ])
        let range: HTTPFields = [.eTag: "\"v1\"", .contentRange: "bytes 8000-9999/10000"]
        let rest = ScriptedResponse(steps: [
            .head(ResponseHead(status: .partialContent, headers: range, contentLength: 2000)),
            .hold(gate), .bytes(Data(count: 1000)), .bytes(Data(count: 1000)),
        ])
        fixture.transport.respond { $0.headers[.range] == nil ? first : rest }
        var description = description()
        description.download = DownloadPlan(to: folder.appendingPathComponent("file"))
        _ = try? await fixture.agent.start(description).response()

        let task = fixture.agent.start(description)
        task.onProgress(every: .zero) { _ in }
        try await gate.reached()
        let begun = task.progress.current
        #expect(begun.resumedBytes == 8000 && begun.bytesReceived == 8000)
        #expect(begun.totalBytesToReceive == 10_000 && begun.bytesReceivedPerSecond == nil)
        fixture.clock.advance(by: .seconds(1))
        gate.open()
        let response = try await task.response()
        #expect(response.downloadedFile?.resumedOffset == 8000)
        #expect(response.downloadedFile?.duration == .seconds(1))
        #expect(task.progress.current.bytesReceivedPerSecond == 1000)
    }

    @Test func totalOfAnUploadIsKnownWhileTheRequestWaits() async throws {
        let gate = Gate()
        fixture.transport.on(nil, nil, ScriptedResponse(body: Data()).held(by: gate))
        let first = fixture.agent.start(description("a"))
        try await gate.reached()
        var upload = description("b")
        upload.method = .post
        upload.body = .data(Data(count: 1234), contentType: "application/octet-stream")
        let second = fixture.agent.start(upload)
        try await fixture.untilQueued(1)
        #expect(second.progress.current.totalBytesToSend == 1234)
        #expect(second.progress.current.bytesSent == 0)
        gate.open()
        _ = try await first.response()
        _ = try await second.response()
    }
}
