import Errand
import ErrandTesting
import Synchronization
import Testing

/// Every order of what can happen to a request, up to four things, at once and after it has reached the transport:
/// one end, hooks once each, nothing left behind.
@Suite(.timeLimit(.minutes(2))) @MainActor struct LifeOrderTests {
    private enum Move: CaseIterable { case suspend, resume, cancel, head, rest }

    /// Counts the hooks of one run.
    private final class Hooks: RequestAccessory {
        var counts: [ClosureAccessory.Moment: Int] = [:]
        var order: [ClosureAccessory.Moment] = []

        func note(_ moment: ClosureAccessory.Moment) {
            counts[moment, default: 0] += 1
            order.append(moment)
        }

        func requestWillStart(_ request: BaseRequest) { note(.willStart) }
        func requestWillSuspend(_ request: BaseRequest) { note(.willSuspend) }
        func requestDidResume(_ request: BaseRequest) { note(.didResume) }
        func requestWillCancel(_ request: BaseRequest) { note(.willCancel) }
        func requestWillStop(_ request: BaseRequest) { note(.willStop) }
        func requestDidStop(_ request: BaseRequest) { note(.didStop) }
    }

    @Test(arguments: [false, true]) func everyOrderHasOneEnd(reachesTheTransport: Bool) async throws
    {
        for moves in Self.orders(of: 4) {
            try await live(moves, reachesTheTransport)
        }
    }

    private func live(_ moves: [Move], _ reachesTheTransport: Bool) async throws {
        let ends = Ends()
        let (head, rest) = (Gate(), Gate())
        let transport = ScriptedTransport()
        var answer = ScriptedAnswer.json(#"{"n":1}"#).held(by: head)
        answer.steps.append(.hold(rest))
        transport.on(nil, nil, answer)
        var configuration = Configuration(baseURL: "https://api.example.com/")
        configuration.eventListeners = [ends]
        let agent = RequestAgent(
            configuration: configuration, transport: transport, clock: ManualClock())
        let request = Plain("x")
        request.agent = agent
        let hooks = Hooks()
        request.accessories = [hooks]
        var results: [Result<Int, RequestError>] = []
        var task: RequestTask?
        var mustBeCancelled = false
        await withCheckedContinuation { continuation in
            task = request.start { request in
                results.append(.success(request.response?.json["n"].int ?? 0))
            } failure: { _, error in
                results.append(.failure(error))
            }
            request.accessories.append(
                ClosureAccessory { moment, _ in
                    if moment == .didStop { continuation.resume() }
                })
            Task { [task] in
                if reachesTheTransport { _ = try? await transport.nextRequest() }
                var opened: Set<Move> = []
                for move in moves {
                    opened.insert(move)
                    switch move {
                    case .suspend: task?.suspend()
                    case .resume: task?.resume()
                    case .cancel:
                        task?.cancel()
                        // Without both gates open it cannot have ended.
                        if !opened.isSuperset(of: [.head, .rest]) { mustBeCancelled = true }
                    case .head: head.open()
                    case .rest: rest.open()
                    }
                }
                head.open()
                rest.open()
                task?.resume()
            }
        }
        #expect(results.count == 1 && task?.phase == .ended && ends.count == 1, "\(moves)")
        #expect(ends.endedTwice == 0 && agent.activeTasks.isEmpty, "\(moves)")
        let code: RequestError.Code? =
            if case .failure(let error)? = results.first { error.code } else { nil }
        #expect(code == nil || (code == .cancelled && moves.contains(.cancel)), "\(moves)")
        #expect(code == .cancelled || !mustBeCancelled, "\(moves)")
        for moment in [ClosureAccessory.Moment.willStart, .willStop, .didStop] {
            #expect(hooks.counts[moment] == 1, "\(moves)")
        }
        #expect(hooks.counts[.willCancel] == (code == .cancelled ? 1 : nil), "\(moves)")
        #expect(hooks.order.first == .willStart && hooks.order.last == .didStop, "\(moves)")
        try await transport.untilIdle()
    }

    private static func orders(of length: Int) -> [[Move]] {
        guard length > 0 else { return [[]] }
        return orders(of: length - 1).flatMap { order in Move.allCases.map { order + [$0] } }
    }
}
