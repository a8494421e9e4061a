public import ErrandCore

/// A listener that records all events in order and lets a test wait for them.
///
///     let recorder = EventRecorder()
///     configuration.eventListeners = [recorder]
///     …
///     let event = try await recorder.next { if case .retrying = $0.kind { true } else { false } }
public final class EventRecorder: RequestEventListener {
    private struct State: Sendable {
        var events: [RequestEvent] = []
        var connections: [ConnectionEvent] = []
        var taken = 0
    }

    private let state = Watched(State())

    /// Whether the recorder receives the events of parts of bodies.
    public let observesChunks: Bool
    /// Whether the recorded messages of WebSockets have their payload.
    public let observesMessagePayloads: Bool

    /// Creates a recorder without events.
    ///
    /// - Parameters:
    ///   - observesChunks: Whether it receives the events of parts of bodies. Default false.
    ///   - observesMessagePayloads: Whether messages of WebSockets have their payload. Default false.
    public init(observesChunks: Bool = false, observesMessagePayloads: Bool = false) {
        self.observesChunks = observesChunks
        self.observesMessagePayloads = observesMessagePayloads
    }

    /// Records the event.
    public func handle(_ event: RequestEvent) {
        state.change { $0.events.append(event) }
    }

    /// Records the opening or the end of a connection.
    public func handleConnection(_ event: ConnectionEvent) {
        state.change { $0.connections.append(event) }
    }

    /// The recorded openings and ends of connections, in order.
    public var connectionEvents: [ConnectionEvent] { state.change { $0.connections } }

    /// Waits until the recorded openings and ends of connections meet the condition, and returns them.
    ///
    /// - Throws: `CancellationError` if the waiting task is cancelled.
    @discardableResult
    public func untilConnections(
        _ condition: @escaping @Sendable ([ConnectionEvent]) -> Bool
    ) async throws -> [ConnectionEvent] {
        try await state.wait { condition($0.connections) ? $0.connections : nil }
    }

    /// All recorded events, in order.
    public var events: [RequestEvent] { state.change { $0.events } }

    /// The names of the recorded events' ``RequestEvent/Kind`` cases, such as `attemptStarted`.
    public var names: [String] { events.map { Self.name(of: $0.kind) } }

    /// Returns the next event that meets the condition, and waits for it if necessary.
    ///
    /// The search starts after the event that the previous call returned. Skipped events are not returned by
    /// later calls.
    ///
    /// - Throws: `CancellationError` if the waiting task is cancelled.
    public func next(
        where condition: @escaping @Sendable (RequestEvent) -> Bool = { _ in true }
    ) async throws -> RequestEvent {
        try await state.wait { state in
            let remaining = state.events[state.taken...]
            guard let index = remaining.firstIndex(where: condition) else { return nil }
            state.taken = index + 1
            return state.events[index]
        }
    }

    /// Waits until the recorded events meet the condition, and returns them.
    ///
    /// - Throws: `CancellationError` if the waiting task is cancelled.
    @discardableResult
    public func until(
        _ condition: @escaping @Sendable ([RequestEvent]) -> Bool
    ) async throws -> [RequestEvent] {
        try await state.wait { condition($0.events) ? $0.events : nil }
    }

    /// Waits until a task has ended, and returns its events.
    ///
    /// - Parameter endpoint: The endpoint of the task. Default `nil`: the first task that ends.
    /// - Throws: `CancellationError` if the waiting task is cancelled.
    @discardableResult
    public func untilEnded(_ endpoint: String? = nil) async throws -> [RequestEvent] {
        try await state.wait { state in
            let isEnd = { (event: RequestEvent) -> Bool in
                guard case .ended = event.kind else { return false }
                return endpoint == nil || event.endpoint == endpoint
            }
            guard let last = state.events.first(where: isEnd) else { return nil }
            return state.events.filter { $0.taskID == last.taskID }
        }
    }

    private static func name(of kind: RequestEvent.Kind) -> String {
        let text = String(describing: kind)
        return String(text.prefix(upToByte: "("))
    }
}
