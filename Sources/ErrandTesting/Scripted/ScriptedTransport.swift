public import ErrandCore

/// A transport without a network: it answers from a script and keeps every request.
///
///     let transport = ScriptedTransport()
///     transport.on(.get, "/users", .json(#"{"id": 7}"#))
///     let agent = RequestAgent(transport: transport)
///     …
///     #expect(transport.requests.count == 1)
///     #expect(transport.failures.isEmpty)
///
/// A request that the script does not know ends with ``RequestError/Code/transportFailed`` and is kept in
/// ``failures``.
public final class ScriptedTransport: Transport {
    /// Makes the answer to a request.
    public typealias Handler = @Sendable (TransportRequest) -> ScriptedAnswer?

    private struct Script: Sendable {
        var method: HTTPMethod?
        var path: String?
        var answers: [ScriptedAnswer]
        var handler: Handler?

        func matches(_ request: TransportRequest) -> Bool {
            (method == nil || method == request.method)
                && (path == nil || path == request.url.path)
        }
    }

    private struct State: Sendable {
        var scripts: [Script] = []
        var requests: [TransportRequest] = []
        var taken = 0
        var failures: [String] = []
        var transfers: [ObjectIdentifier: ScriptedTransfer] = [:]
        var refusals: [RequestError] = []
        var isShutDown = false
    }

    private let state = Watched(State())

    /// The name, as in events and errors.
    public let name: String

    /// Makes a transport without a script.
    ///
    /// - Parameter name: Its name in events and errors. Default `scripted`.
    public init(name: String = "scripted") { self.name = name }

    // MARK: - The script

    /// Answers requests for a method and a path, whatever their host and query.
    ///
    /// - Parameters:
    ///   - method: The method; `nil` for any.
    ///   - path: The path, from its slash; `nil` for any.
    ///   - answers: What to answer in turn; the last one again and again.
    public func on(_ method: HTTPMethod?, _ path: String?, _ answers: ScriptedAnswer...) {
        state.change {
            $0.scripts.insert(Script(method: method, path: path, answers: answers), at: 0)
        }
    }

    /// Answers requests by a closure; those for which it returns `nil` go on to earlier scripts.
    public func answer(_ handler: @escaping Handler) {
        state.change { $0.scripts.insert(Script(answers: [], handler: handler), at: 0) }
    }

    /// Refuses the next request in ``check(_:)``.
    public func refuseNext(_ error: RequestError) {
        state.change { $0.refusals.append(error) }
    }

    // MARK: - What happened

    /// All requests so far, in the order in which they were started.
    public var requests: [TransportRequest] { state.change { $0.requests } }

    /// Requests that the script did not know, for messages.
    public var failures: [String] { state.change { $0.failures } }

    /// How many transfers have not ended.
    public var inFlight: Int { state.change { $0.transfers.count } }

    /// The next request that nobody asked for yet; waits for it.
    ///
    /// - Throws: `CancellationError` when the waiting task is cancelled.
    public func nextRequest() async throws -> TransportRequest {
        try await state.wait { state in
            guard state.taken < state.requests.count else { return nil }
            defer { state.taken += 1 }
            return state.requests[state.taken]
        }
    }

    /// Waits until no transfer is under way.
    ///
    /// - Throws: `CancellationError` when the waiting task is cancelled.
    public func untilIdle() async throws {
        try await state.wait { $0.transfers.isEmpty ? true : nil }
    }

    // MARK: - Transport

    /// Throws what ``refuseNext(_:)`` was given.
    public func check(_ request: TransportRequest) throws(RequestError) {
        let refusal = state.change { $0.refusals.isEmpty ? nil : $0.refusals.removeFirst() }
        if let refusal { throw refusal }
    }

    /// Begins to play the script.
    public func start(
        _ request: TransportRequest, receiver: any TransferReceiver
    ) -> any Transfer {
        let answer = answer(to: request)
        let transfer = ScriptedTransfer(answer: answer, request: request, receiver: receiver)
        let isShutDown = state.change { state in
            if !state.isShutDown { state.transfers[ObjectIdentifier(transfer)] = transfer }
            return state.isShutDown
        }
        transfer.onEnd { [weak self, id = ObjectIdentifier(transfer)] in
            self?.state.change { $0.transfers[id] = nil }
        }
        if isShutDown { transfer.end(with: Self.shutDownError) }
        transfer.run()
        return transfer
    }

    /// Ends every transfer with ``RequestError/Code/agentShutDown``; later ones, too.
    public func shutDown() {
        let transfers = state.change { state in
            state.isShutDown = true
            return Array(state.transfers.values)
        }
        for transfer in transfers { transfer.end(with: Self.shutDownError) }
    }

    private static var shutDownError: RequestError {
        RequestError(.agentShutDown, stage: .transport, "The transport was shut down.")
    }

    private func answer(to request: TransportRequest) -> ScriptedAnswer {
        let scripts = state.change { state in
            state.requests.append(request)
            return state.scripts
        }
        for handler in scripts.filter({ $0.matches(request) }).compactMap(\.handler) {
            if let answer = handler(request) { return answer }
        }
        return state.change { state in
            guard
                let index = state.scripts.firstIndex(where: {
                    $0.matches(request) && $0.handler == nil
                })
            else {
                let text = "\(request.method) \(request.url.redacted)"
                state.failures.append(text)
                return .failure(
                    RequestError(
                        .transportFailed, stage: .transport,
                        "No scripted answer for \(text); add one with on(_:_:_:)."))
            }
            let answers = state.scripts[index].answers
            if answers.count > 1 { state.scripts[index].answers.removeFirst() }
            return answers.first ?? ScriptedAnswer(steps: [])
        }
    }
}
