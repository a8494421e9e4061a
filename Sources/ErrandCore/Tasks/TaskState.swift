import Synchronization

/// The stage that the work of a request has reached, as the steps report it.
package enum TaskStage: Sendable, Hashable {
    case described
    case adapting
    case waiting
    case inFlight(attempt: Int)
    case processing

    /// Whether this stage can replace `current`.
    ///
    /// A late report of a transfer that several requests share must not set a request back.
    package func mayFollow(_ current: TaskStage) -> Bool {
        switch (current, self) {
        case (_, .described), (.processing, _): false
        case (.described, .adapting), (.described, .waiting), (.described, .inFlight): true
        case (.adapting, .waiting), (.adapting, .inFlight), (.adapting, .processing): true
        case (.waiting, .inFlight), (.waiting, .processing): true
        case (.inFlight, .waiting), (.inFlight, .processing): true
        case (.inFlight(let earlier), .inFlight(let later)): later > earlier
        case (.described, .processing), (_, .adapting), (.waiting, .waiting): false
        }
    }
}

/// The state of a request from start to end, as a pure state machine.
///
///     described ▸ adapting ▸ waiting ⇄ in flight (attempt n) ▸ processing ▸ ended
///
/// It is the only source of ``RequestTask/Phase``. A suspension and a request to stop hide the stage; the end hides
/// everything. Whatever the order of events, there is one end.
package struct TaskState: Sendable, Equatable {
    /// Why the request is to stop before its own end.
    package enum StopReason: UInt64, Sendable, Equatable {
        case cancelled = 1
        case deadline
        case shutDown
    }

    /// The whole state, so that it can be changed atomically: bits 0–2 the stage, 3 suspended, 4–5 the reason to
    /// stop, 6 ended, 8–63 the attempt.
    fileprivate var word: UInt64 = 0

    package init() {}

    fileprivate init(word: UInt64) { self.word = word }

    package private(set) var stage: TaskStage {
        get {
            switch word & 7 {
            case 1: .adapting
            case 2: .waiting
            case 3: .inFlight(attempt: Int(clamping: word >> 8))
            case 4: .processing
            default: .described
            }
        }
        set {
            let stage: UInt64 =
                switch newValue {
                case .described: 0
                case .adapting: 1
                case .waiting: 2
                case .inFlight(let attempt): UInt64(clamping: attempt) << 8 | 3
                case .processing: 4
                }
            word = word & 0x78 | stage
        }
    }

    package private(set) var isSuspended: Bool {
        get { word & 8 != 0 }
        set { word = newValue ? word | 8 : word & ~8 }
    }

    package private(set) var stopReason: StopReason? {
        get { StopReason(rawValue: word >> 4 & 3) }
        set { word = word & ~0x30 | (newValue?.rawValue ?? 0) << 4 }
    }

    package private(set) var hasEnded: Bool {
        get { word & 64 != 0 }
        set { word = newValue ? word | 64 : word & ~64 }
    }

    /// Reports a stage; false if the stage does not follow the current one.
    package mutating func enter(_ stage: TaskStage) -> Bool {
        guard stage.mayFollow(self.stage) else { return false }
        self.stage = stage
        return true
    }

    /// Suspends the request; false if it is suspended or has ended.
    package mutating func suspend() -> Bool {
        guard !isSuspended, !hasEnded else { return false }
        isSuspended = true
        return true
    }

    /// Ends a suspension; false if the request is not suspended or has ended.
    package mutating func resume() -> Bool {
        guard isSuspended, !hasEnded else { return false }
        isSuspended = false
        return true
    }

    /// Asks the request to stop; false if it was asked before or has ended.
    ///
    /// The first reason is kept.
    package mutating func stop(_ reason: StopReason) -> Bool {
        guard stopReason == nil, !hasEnded else { return false }
        stopReason = reason
        return true
    }

    /// Records that the work has ended; returns the reason to stop, which takes precedence over the result of the work.
    package mutating func end() -> StopReason? {
        defer {
            hasEnded = true
            stopReason = nil
        }
        return stopReason
    }

    /// The phase that users see.
    package var phase: RequestTask.Phase {
        if hasEnded { return .ended }
        if stopReason != nil { return .cancelling }
        if isSuspended { return .suspended }
        return switch stage {
        case .described: .described
        case .adapting: .adapting
        case .waiting: .waiting
        case .inFlight(let attempt): .inFlight(attempt: attempt)
        case .processing: .processing
        }
    }
}

/// The one ``TaskState`` of a request, changed from any thread without a lock.
///
/// Part of ``SuspensionPoint``, which is shared by reference.
package struct AtomicTaskState: ~Copyable, Sendable {
    private let word = Atomic(TaskState().word)

    package init() {}

    /// The state at this moment.
    package var value: TaskState { TaskState(word: word.load(ordering: .sequentiallyConsistent)) }

    /// Changes the state and returns the result of the transition.
    package func change<Result>(_ transition: (inout TaskState) -> Result) -> Result {
        var current = word.load(ordering: .sequentiallyConsistent)
        while true {
            var state = TaskState(word: current)
            let result = transition(&state)
            if state.word == current { return result }
            let (exchanged, original) = word.compareExchange(
                expected: current, desired: state.word, ordering: .sequentiallyConsistent)
            if exchanged { return result }
            current = original
        }
    }
}
