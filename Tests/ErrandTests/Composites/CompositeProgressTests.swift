import ErrandCore
import ErrandHTTP
import ErrandTesting
import ErrandTransport
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Errand

/// The threads and the last value of the progress of composites.
@Suite(.limited) @MainActor struct CompositeProgressTests {
    private final class Bytes: BaseRequest {
        override var url: EndpointURL { "x" }
        override func configure(_ request: inout RequestDescription) {
            super.configure(&request)
            request.acceptance.format = .any
        }
    }

    private func response(_ gate: Gate) -> ScriptedResponse {
        ScriptedResponse(steps: [
            .head(ResponseHead(status: .ok, httpVersion: .http11, contentLength: 100)),
            .bytes(Data(repeating: 1, count: 100)), .hold(gate),
        ])
    }

    /// The caller may hold a lock that the handlers of the others need.
    @Test func newObserverDoesNotCallTheHandlersOfOthers() async throws {
        let fixture = AgentFixture()
        let gate = Gate()
        fixture.transport.on(nil, nil, response(gate))
        let run = BatchRequest([fixture.with(Bytes())]).start()
        try await gate.reached()
        let task = try #require(fixture.agent.activeTasks.first)
        for await progress in task.progress where progress.bytesReceived == 100 { break }
        let (calls, call) = AsyncStream.makeStream(of: Bool.self)
        run.onProgress(every: .zero) { _ in call.yield(Self.isInObserver) }
        var iterator = calls.makeAsyncIterator()
        #expect(await iterator.next() == false)
        // The next observers meet a value that was not reported yet: the total is unknown, and known again.
        run.members?.expect(total: 2)
        let total = Self.inObserver { run.progress.current.totalBytesToReceive }
        #expect(total == nil)
        #expect(await iterator.next() == false)
        run.members?.expect(total: 1)
        let progress = Self.inObserver { run.foundationProgress() }
        #expect(progress.totalUnitCount == 100)
        #expect(await iterator.next() == false)
        gate.open()
        run.cancel()
    }

    nonisolated private static let key = "observer"

    /// Whether this thread is in ``inObserver(_:)``.
    nonisolated private static var isInObserver: Bool {
        Thread.current.threadDictionary[key] != nil
    }

    /// Calls a function that begins to observe.
    private static func inObserver<Value>(_ body: () -> Value) -> Value {
        Thread.current.threadDictionary[key] = true
        defer { Thread.current.threadDictionary.removeObject(forKey: key) }
        return body()
    }

    @Test func endWaitsForTheLastCall() async throws {
        let fixture = AgentFixture()
        let gate = Gate()
        fixture.transport.on(nil, nil, response(gate))
        let lines = Mutex<[String]>([])
        let proceed = DispatchSemaphore(value: 0)
        let batch = BatchRequest([fixture.with(Bytes())])
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        let run = batch.start { _ in
            lines.withLock { $0.append("end") }
            end.yield()
        } failure: { _, _ in
            end.yield()
        }
        try await gate.reached()
        await withCheckedContinuation { entered in
            let entered = Mutex<CheckedContinuation<Void, Never>?>(entered)
            run.onProgress(every: .zero) { progress in
                if let entered = entered.withLock({ $0.take() }) {
                    entered.resume()
                    proceed.wait()
                }
                lines.withLock { $0.append("\(progress.bytesReceived)") }
            }
        }
        // Another value, so that there is a last call after this one.
        run.hub.update { $0.bytesReceived = 1 }
        gate.open()
        for await _ in try #require(run.members).updates {}
        // Another request runs to its end meanwhile.
        let other = AgentFixture()
        other.transport.on(nil, nil, .json("{}"))
        _ = try await other.with(Plain("x")).send()
        #expect(!lines.withLock { $0.contains("end") })
        proceed.signal()
        for await _ in ends { break }
        #expect(lines.withLock { $0 } == ["100", "100", "end"])
    }
}
