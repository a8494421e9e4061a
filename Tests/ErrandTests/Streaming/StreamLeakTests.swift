import Errand
import ErrandTesting
import TestSupport
import Testing

/// The agent, the task and the request of a stream are released after every end.
@Suite(.limited) @MainActor struct StreamLeakTests {
    enum Ending: CaseIterable {
        case complete, left, unread, cancelled, interrupted, shutDown, refused, stored, closures
        case abandonedByInterceptor
    }

    @Test(arguments: Ending.allCases) func everythingIsReleased(ending: Ending) async throws {
        weak var weakRequest: Plain?
        weak var weakAgent: RequestAgent?
        weak var weakTask: RequestTask?
        weak var weakTransport: ScriptedTransport?
        do {
            let fixture = AgentFixture {
                guard ending == .abandonedByInterceptor else { return }
                $0.interceptors.append { request, next in
                    _ = try await next(request)
                    return try await next(request)
                }
            }
            let gate = Gate()
            script(fixture.transport, ending, gate)
            let request = fixture.with(Plain("x"))
            weakRequest = request
            weakAgent = fixture.agent
            weakTransport = fixture.transport
            if ending == .stored {
                _ = await (try request.stream()).readToEnd()
            }
            if ending == .closures {
                await withCheckedContinuation { continuation in
                    weakTask = request.stream { _, _ in
                        gate.open()
                    } success: { _ in
                        continuation.resume()
                    } failure: { _, _ in
                        continuation.resume()
                    }
                }
            } else {
                weakTask = await end(ending, request, fixture, gate)
            }
            try await fixture.transport.untilIdle()
        }
        for _ in 0..<5000
        where weakRequest != nil || weakAgent != nil || weakTask != nil || weakTransport != nil {
            await Task.yield()
        }
        #expect(weakRequest == nil && weakAgent == nil)
        #expect(weakTask == nil && weakTransport == nil)
    }

    private func script(_ transport: ScriptedTransport, _ ending: Ending, _ gate: Gate) {
        switch ending {
        case .refused: transport.on(.get, "/x", .json("{}", status: .notFound))
        case .interrupted: transport.on(.get, "/x", .stream(.text("a"), .interruption))
        case .complete, .stored, .abandonedByInterceptor:
            transport.on(.get, "/x", .stream(.text("a"), .text("b")))
        case .left, .unread, .cancelled, .shutDown, .closures:
            transport.on(.get, "/x", .stream(.text("a"), .hold(gate), .text("b")))
        }
    }

    /// Streams the request and ends the stream; returns its task.
    private func end(
        _ ending: Ending, _ request: Plain, _ fixture: AgentFixture, _ gate: Gate
    ) async -> RequestTask? {
        var task: RequestTask?
        guard let stream = try? await request.stream(onStart: { task = $0 }) else { return task }
        switch ending {
        case .left:
            do { for try await _ in stream.bytes { break } } catch { Issue.record(error) }
        case .cancelled:
            stream.task.cancel()
            _ = await stream.readToEnd()
        case .shutDown:
            await fixture.agent.shutdown(draining: false)
            _ = await stream.readToEnd()
        case .unread: break
        default: _ = await stream.readToEnd()
        }
        return task
    }
}
