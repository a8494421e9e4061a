/// Where the work of a task stands; told by the steps, kept as one word, so that telling costs a store.
package enum TaskStage: Sendable, Hashable {
    case described
    case adapting
    case waiting
    case inFlight(attempt: Int)
    case processing

    /// Whether this may come after another one: what comes late, from a transfer that several tasks share, must not take a
    /// task back.
    package func mayFollow(_ other: TaskStage) -> Bool {
        switch (other, self) {
        case (_, .described), (.processing, _): false
        case (.described, .adapting), (.described, .waiting), (.described, .inFlight): true
        case (.adapting, .waiting), (.adapting, .inFlight), (.adapting, .processing): true
        case (.waiting, .inFlight), (.waiting, .processing): true
        case (.inFlight, .waiting), (.inFlight, .processing): true
        case (.inFlight(let earlier), .inFlight(let later)): later > earlier
        case (.described, .processing), (_, .adapting), (.waiting, .waiting): false
        }
    }

    package init(word: UInt64) {
        switch word & 7 {
        case 1: self = .adapting
        case 2: self = .waiting
        case 3: self = .inFlight(attempt: Int(clamping: word >> 3))
        case 4: self = .processing
        default: self = .described
        }
    }

    package var word: UInt64 {
        switch self {
        case .described: 0
        case .adapting: 1
        case .waiting: 2
        case .inFlight(let attempt): UInt64(clamping: attempt) << 3 | 3
        case .processing: 4
        }
    }
}
