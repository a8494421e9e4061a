public import ErrandCore

/// Keeps every event in the order in which it was told, and lets a test wait for one.
///
///     let recorder = EventRecorder()
///     configuration.listeners = [recorder]
///     …
///     let event = try await recorder.next { if case .retrying = $0.kind { true } else { false } }
public final class EventRecorder: RequestEventListener {
    private struct State: Sendable {
        var events: [RequestEvent] = []
        var taken = 0
    }

    private let state = Watched(State())

    /// Makes a recorder without events.
    public init() {}

    /// Records the event.
    public func handle(_ event: RequestEvent) {
        state.change { $0.events.append(event) }
    }

    /// All events so far.
    public var events: [RequestEvent] { state.change { $0.events } }

    /// What happened so far, in order, as the names of ``RequestEvent/Kind``'s cases, such as
    /// `attemptStarted`.
    public var names: [String] { events.map { Self.name(of: $0.kind) } }

    /// The first event behind the last one that was given out for which the condition holds; waits for it.
    ///
    /// Events that are passed over are not given out any more.
    ///
    /// - Throws: `CancellationError` when the waiting task is cancelled.
    public func next(
        where condition: @escaping @Sendable (RequestEvent) -> Bool = { _ in true }
    ) async throws -> RequestEvent {
        try await state.wait { state in
            let behind = state.events[state.taken...]
            guard let index = behind.firstIndex(where: condition) else { return nil }
            state.taken = index + 1
            return state.events[index]
        }
    }

    /// Waits until the events so far meet the condition.
    ///
    /// - Throws: `CancellationError` when the waiting task is cancelled.
    @discardableResult
    public func until(
        _ condition: @escaping @Sendable ([RequestEvent]) -> Bool
    ) async throws -> [RequestEvent] {
        try await state.wait { condition($0.events) ? $0.events : nil }
    }

    /// Waits until a task has ended, and returns its events; of any task when none is named.
    ///
    /// - Throws: `CancellationError` when the waiting task is cancelled.
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
        return String(text.prefix { $0 != "(" })
    }
}
