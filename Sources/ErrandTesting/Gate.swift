/// A condition that holds scripted responses until the test opens it.
///
/// It replaces delays of a fixed length.
///
/// A gate is opened once and stays open.
///
///     let gate = Gate()
///     server.route("/slow") { _ in LoopbackResponse(body: "late").held(by: gate) }
///     …
///     try await gate.reached()     // the server waits at the gate
///     gate.open()
public final class Gate: Sendable {
    private struct State: Sendable {
        var isOpen = false
        var arrivals = 0
        var nextID = 0
        var waiting: [Int: @Sendable () -> Void] = [:]
    }

    private let state = Watched(State())

    /// Creates a closed gate.
    public init() {}

    /// Opens the gate: all current waiters proceed, and later arrivals do not wait.
    public func open() {
        state.change { state in
            state.isOpen = true
            // Under the lock, so that no callback runs after its `leave(_:)`.
            for notify in state.waiting.values { notify() }
            state.waiting = [:]
        }
    }

    /// Whether the gate is open.
    public var isOpen: Bool { state.change { $0.isOpen } }

    /// The number of arrivals so far, before and after the gate was opened.
    public var arrivals: Int { state.change { $0.arrivals } }

    /// Waits for arrivals at the gate.
    ///
    /// - Parameter count: The number of arrivals to wait for, counted since the gate was created. Default 1.
    /// - Throws: `CancellationError` if the waiting task is cancelled.
    public func reached(times count: Int = 1) async throws {
        try await state.wait { $0.arrivals >= count ? true : nil }
    }

    /// Arrives at the gate and waits until it is open.
    ///
    /// - Throws: `CancellationError` if the waiting task is cancelled.
    public func passed() async throws {
        state.change { $0.arrivals += 1 }
        try await state.wait { $0.isOpen ? true : nil }
    }

    /// Registers an arrival.
    ///
    /// - Parameter notify: Called when the gate opens, or at once if it is open. It must not call the gate.
    /// - Returns: A token for ``leave(_:)``.
    @discardableResult
    func arrive(_ notify: @escaping @Sendable () -> Void) -> Int {
        let (id, isOpen) = state.change { state in
            state.arrivals += 1
            state.nextID += 1
            if !state.isOpen { state.waiting[state.nextID] = notify }
            return (state.nextID, state.isOpen)
        }
        if isOpen { notify() }
        return id
    }

    /// Removes the callback of an arrival.
    func leave(_ token: Int) {
        state.change { state in state.waiting[token] = nil }
    }
}
