import ErrandCore
public import ErrandTransport

/// A transport without a network that returns scripted responses and records requests.
///
///     let transport = ScriptedTransport()
///     transport.on(.get, "/users", .json(#"{"id": 7}"#))
///     let agent = RequestAgent(transport: transport)
///     …
///     #expect(transport.requestCount == 1)
///     #expect(transport.failures.isEmpty)
///
/// A request without a scripted response ends at once with ``RequestError/Code/unsupported``, which no
/// ``RetryPolicy`` retries. The error names the request and the scripts, and the request is listed in ``failures``.
/// The latest 1,000 requests are kept; see ``maximumRecordedRequests``.
public final class ScriptedTransport: Transport {
    /// Returns the response to a request, or `nil` to try the next script.
    public typealias Handler = @Sendable (TransportRequest) -> ScriptedResponse?

    private struct Script: Sendable {
        var method: HTTPMethod?
        var path: String?
        var responses: [ScriptedResponse]
        var handler: Handler?

        func matches(_ request: TransportRequest) -> Bool {
            (method == nil || method == request.method)
                && (path == nil || path == request.url.path)
        }

        /// The requests that the script is for, such as `GET /users`.
        var subject: String {
            guard handler == nil else { return "a closure of respond(_:), which returned nil" }
            return "\(method?.rawValue ?? "any method") \(path ?? "any path")"
        }
    }

    private struct State: Sendable {
        var scripts: [Script] = []
        var requests = RecordedRequests()
        var failures = TestFailures()
        var transfers: [ObjectIdentifier: ScriptedTransfer] = [:]
        var refusals: [RequestError] = []
        var isShutDown = false
    }

    private let state = Watched(State())

    /// The transport's name in events and errors.
    public let name: String

    /// Creates a transport without scripts.
    ///
    /// - Parameter name: Its name in events and errors. Default `scripted`.
    public init(name: String = "scripted") { self.name = name }

    // MARK: - Scripts

    /// Sets the responses for a method and a path, for every host and query.
    ///
    /// A later script takes precedence over an earlier one for the same requests.
    ///
    /// - Parameters:
    ///   - method: The method; `nil` for all.
    ///   - path: The path with its leading slash; `nil` for all.
    ///   - responses: The responses, delivered in turn; the last one is repeated.
    public func on(_ method: HTTPMethod?, _ path: String?, _ responses: ScriptedResponse...) {
        state.change {
            $0.scripts.insert(Script(method: method, path: path, responses: responses), at: 0)
        }
    }

    /// Responds to requests with a closure.
    ///
    /// Closures are called before the scripts of ``on(_:_:_:)`` are searched, the latest closure first. If a
    /// closure returns `nil`, the next one is called.
    public func respond(_ handler: @escaping Handler) {
        state.change { $0.scripts.insert(Script(responses: [], handler: handler), at: 0) }
    }

    /// Makes the next call of ``check(_:)`` throw an error.
    ///
    /// Several errors are thrown in order.
    public func refuseNext(_ error: RequestError) {
        state.change { $0.refusals.append(error) }
    }

    // MARK: - Recorded requests

    /// The latest started requests, in order: at most ``maximumRecordedRequests``.
    public var requests: [TransportRequest] { state.change { $0.requests.latest } }

    /// The number of all started requests, also of those that ``requests`` does not contain any more.
    public var requestCount: Int { state.change { $0.requests.total } }

    /// The maximum number of ``requests`` that are kept.
    ///
    /// Default 1,000, at least 1. A test that sends more requests and reads all of them raises it before. The oldest
    /// requests are released first; a lower value releases them at once.
    public var maximumRecordedRequests: Int {
        get { state.change { $0.requests.limit } }
        set { state.change { $0.requests.limit = newValue } }
    }

    /// The method and URL of requests without a scripted response, and of WebSockets whose client has not done what the
    /// script expects, with the reason; the first 1,000.
    public var failures: [String] { state.change { $0.failures.texts } }

    private func fail(_ text: String) { state.change { $0.failures.add(text) } }

    /// The number of transfers that have not ended.
    public var inFlight: Int { state.change { $0.transfers.count } }

    /// Returns the next request that this method has not returned yet, and waits for it if necessary.
    ///
    /// Requests that ``requests`` does not contain any more are skipped.
    ///
    /// - Throws: `CancellationError` if the waiting task is cancelled.
    public func nextRequest() async throws -> TransportRequest {
        try await state.wait { $0.requests.takeNext() }
    }

    /// Waits until all transfers have ended.
    ///
    /// - Throws: `CancellationError` if the waiting task is cancelled.
    public func untilIdle() async throws {
        try await state.wait { $0.transfers.isEmpty ? true : nil }
    }

    // MARK: - Transport

    /// Throws the next error of ``refuseNext(_:)``, if there is one.
    public func check(_ request: TransportRequest) throws(RequestError) {
        let refusal = state.change { $0.refusals.isEmpty ? nil : $0.refusals.removeFirst() }
        if let refusal { throw refusal }
    }

    /// Starts a transfer that performs the scripted response.
    public func start(
        _ request: TransportRequest, receiver: any TransferReceiver
    ) -> any Transfer {
        start(request, response: response(to: request), receiver: receiver)
    }

    /// Starts a transfer that performs a given response; it is not recorded.
    func start(
        _ request: TransportRequest, response: ScriptedResponse, receiver: any TransferReceiver
    ) -> any Transfer {
        let transfer = ScriptedTransfer(response: response, request: request, receiver: receiver)
        let isShutDown = state.change { state in
            if !state.isShutDown { state.transfers[ObjectIdentifier(transfer)] = transfer }
            return state.isShutDown
        }
        transfer.onEnd { [weak self, id = ObjectIdentifier(transfer)] in
            self?.state.change { $0.transfers[id] = nil }
        }
        transfer.onFailure { [weak self] text in
            self?.fail("\(request.method) \(request.url.redacted): \(text)")
        }
        if isShutDown { transfer.end(with: Self.shutDownError) }
        transfer.run()
        return transfer
    }

    /// Ends all transfers, current and later, with ``RequestError/Code/agentShutDown``.
    public func shutDown() {
        let transfers = state.change { state in
            state.isShutDown = true
            return Array(state.transfers.values)
        }
        for transfer in transfers { transfer.end(with: Self.shutDownError) }
    }

    private static var shutDownError: RequestError {
        RequestError(
            .agentShutDown, stage: .transport,
            "The transport was shut down. Use another one for new requests.")
    }

    private func response(to request: TransportRequest) -> ScriptedResponse {
        let scripts = state.change { state in
            state.requests.add(request)
            return state.scripts
        }
        for handler in scripts.filter({ $0.matches(request) }).compactMap(\.handler) {
            if let response = handler(request) { return response }
        }
        return state.change { state in
            guard
                let index = state.scripts.firstIndex(where: {
                    $0.matches(request) && $0.handler == nil
                })
            else {
                let text = "\(request.method) \(request.url.redacted)"
                state.failures.add(text)
                return .failure(Self.unscripted(text, state.scripts))
            }
            let responses = state.scripts[index].responses
            if responses.count > 1 { state.scripts[index].responses.removeFirst() }
            return responses.first ?? ScriptedResponse(steps: [])
        }
    }

    /// The error of a request without a response; not retried, because every attempt would end with it.
    private static func unscripted(_ request: String, _ scripts: [Script]) -> RequestError {
        let subjects = scripts.reversed().map(\.subject)
        let others = subjects.count > 20 ? ", and \(subjects.count - 20) more" : ""
        let scripted =
            subjects.isEmpty
            ? "Nothing is scripted."
            : "Scripted: " + subjects.prefix(20).joined(separator: ", ") + others + "."
        return RequestError(
            .unsupported, stage: .transport,
            "No response is scripted for \(request). \(scripted) Add one with on(_:_:_:).")
    }
}
