/// A place where a script waits until the test lets it go on: instead of a pause of some length.
///
/// A gate is opened once and stays open.
///
///     let gate = Gate()
///     server.route("/slow") { _ in LoopbackAnswer(body: "late").held(by: gate) }
///     …
///     try await gate.reached()     // the server stands at the gate
///     gate.open()
public final class Gate: Sendable {
    private struct State: Sendable {
        var isOpen = false
        var arrivals = 0
        var nextID = 0
        var waiting: [Int: @Sendable () -> Void] = [:]
    }

    private let state = Watched(State())

    /// Makes a closed gate.
    public init() {}

    /// Lets everybody through who stands at the gate, and everybody who comes later.
    public func open() {
        state.change { state in
            state.isOpen = true
            // Under the lock, so that nobody is called who has left.
            for notify in state.waiting.values { notify() }
            state.waiting = [:]
        }
    }

    /// Whether the gate was opened.
    public var isOpen: Bool { state.change { $0.isOpen } }

    /// How often somebody came to the gate so far, open or not.
    public var arrivals: Int { state.change { $0.arrivals } }

    /// Waits until somebody came to the gate.
    ///
    /// - Parameter count: How many arrivals to wait for, counted from the beginning. Default 1.
    /// - Throws: `CancellationError` when the waiting task is cancelled.
    public func reached(times count: Int = 1) async throws {
        try await state.wait { $0.arrivals >= count ? true : nil }
    }

    /// Waits until the gate is open.
    ///
    /// - Throws: `CancellationError` when the waiting task is cancelled.
    public func passed() async throws {
        state.change { $0.arrivals += 1 }
        try await state.wait { $0.isOpen ? true : nil }
    }

    /// Comes to the gate.
    ///
    /// - Parameter notify: Called once the gate opens, at once when it is open; it may not call the gate.
    /// - Returns: What ``leave(_:)`` wants.
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

    func leave(_ token: Int) {
        state.change { state in state.waiting[token] = nil }
    }
}
