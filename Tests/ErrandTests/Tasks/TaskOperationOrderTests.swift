import Errand
import ErrandTesting
import TestSupport
import Testing

/// Every sequence of four operations on a request, before and after it has reached the transport: it ends once,
/// each lifecycle event is reported once, and no task or transfer remains.
@Suite(.limited) @MainActor struct TaskOperationOrderTests {
    private enum Operation: CaseIterable { case suspend, resume, cancel, head, rest }

    @Test(arguments: [false, true])
    func everySequenceEndsExactlyOnce(reachesTheTransport: Bool) async throws {
        for operations in Self.sequences(of: 4) {
            try await run(operations, reachesTheTransport)
        }
    }

    private func run(_ operations: [Operation], _ reachesTheTransport: Bool) async throws {
        let ends = EndCounter()
        let (head, rest) = (Gate(), Gate())
        let transport = ScriptedTransport()
        var response = ScriptedResponse.json(#"{"n":1}"#).held(by: head)
        response.steps.append(.hold(rest))
        transport.on(nil, nil, response)
        var configuration = Configuration(baseURL: "https://api.example.com/")
        configuration.eventListeners = [ends]
        let agent = RequestAgent(
            configuration: configuration, transport: transport, clock: ManualClock())
        let request = Plain("x")
        let recorder = LifecycleRecorder()
        request.accessories = [recorder]
        var results: [Result<Int, RequestError>] = []
        var task: RequestTask?
        var mustBeCancelled = false
        await withCheckedContinuation { continuation in
            task = request.start(on: agent) { request in
                results.append(.success(request.response?.json["n"].int ?? 0))
            } failure: { _, error in
                results.append(.failure(error))
            }
            request.observe { event, _ in if event == .didStop { continuation.resume() } }
            Task { [task] in
                if reachesTheTransport { _ = try? await transport.nextRequest() }
                var opened: Set<Operation> = []
                for operation in operations {
                    opened.insert(operation)
                    switch operation {
                    case .suspend: task?.suspend()
                    case .resume: task?.resume()
                    case .cancel:
                        task?.cancel()
                        // The request cannot have ended before both gates are open.
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
        #expect(results.count == 1 && task?.phase == .ended && ends.count == 1, "\(operations)")
        #expect(ends.endedTwice == 0 && agent.activeTasks.isEmpty, "\(operations)")
        let code: RequestError.Code? =
            if case .failure(let error)? = results.first { error.code } else { nil }
        let isCancellable = operations.contains(.cancel)
        #expect(code == nil || (code == .cancelled && isCancellable), "\(operations)")
        #expect(code == .cancelled || !mustBeCancelled, "\(operations)")
        let lines = recorder.lines
        for event in ["willStart", "willStop", "didStop"] {
            #expect(lines.count { $0 == "x \(event)" } == 1, "\(operations)")
        }
        #expect(
            lines.count { $0 == "x willCancel" } == (code == .cancelled ? 1 : 0), "\(operations)")
        #expect(lines.first == "x willStart" && lines.last == "x didStop", "\(operations)")
        try await transport.untilIdle()
    }

    private static func sequences(of length: Int) -> [[Operation]] {
        guard length > 0 else { return [[]] }
        return sequences(of: length - 1).flatMap { sequence in
            Operation.allCases.map { sequence + [$0] }
        }
    }
}
