import Errand
import Synchronization

/// Hears every event of the agent and tells them as lines, step by step.
final class Logbook: RequestEventListener {
    private let events = Mutex<[RequestEvent]>([])

    func handle(_ event: RequestEvent) {
        events.withLock { $0.append(event) }
    }

    /// What happened since the last call.
    func take() -> [RequestEvent] {
        events.withLock { events in
            defer { events = [] }
            return events
        }
    }
}

extension Screen {
    /// What went over the wire, what came from the store and what the validator said.
    func tell(_ events: [RequestEvent]) {
        var targets: [RequestTask.ID: String] = [:]
        var statuses: [RequestTask.ID: Int] = [:]
        for event in events {
            switch event.kind {
            case .adapted(let method, let url):
                targets[event.taskID] = "\(method) \(url.replacing("http://", with: ""))"
            case .headReceived(_, let status):
                statuses[event.taskID] = status.code
            case .attemptEnded(_, let timings, _):
                let status = statuses[event.taskID].map { "\($0)" } ?? "---"
                let took = timings.finished.map(Self.milliseconds) ?? ""
                line(
                    "→", targets[event.taskID] ?? event.endpoint,
                    status + "\(timings.bytesReceived) B".leftPadded(to: 11)
                        + took.leftPadded(to: 11),
                    style: .wire)
            case .cacheHit(let age, _):
                let text = "\(Int(age / .seconds(1))) s old, nothing sent"
                line("●", "\(event.endpoint) from the store", text, style: .store)
            case .cacheMiss(let reason) where reason != .invalidCacheTime:
                line("○", "\(event.endpoint) not from the store", reason.rawValue, style: .dim)
            case .cacheStored(let bytes):
                line("●", "\(event.endpoint) into the store", "\(bytes) B", style: .store)
            case .resumed(let offset):
                line("↻", "\(event.endpoint) goes on", "at byte \(offset)", style: .wire)
            default: break
            }
        }
    }

    private static func milliseconds(_ duration: Duration) -> String {
        let tenths = Int(duration / .microseconds(100))
        return "\(tenths / 10).\(tenths % 10) ms"
    }
}
