import Errand
import Synchronization
import Terminal

/// Collects the events of the agent.
final class Logbook: RequestEventListener {
    private let events = Mutex<[RequestEvent]>([])

    func handle(_ event: RequestEvent) {
        events.withLock { $0.append(event) }
    }

    /// Returns the events since the last call.
    func take() -> [RequestEvent] {
        events.withLock { events in
            defer { events = [] }
            return events
        }
    }
}

extension Screen {
    /// Prints network transfers and cache events.
    func show(_ events: [RequestEvent]) {
        var targets: [RequestTask.ID: String] = [:]
        var statuses: [RequestTask.ID: Int] = [:]
        for event in events {
            switch event.kind {
            case .adapted(let method, let url):
                targets[event.taskID] = "\(method) \(url.authority)\(url.path)"
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
                let text = "\(Int(age / .seconds(1))) s old, no request sent"
                line("●", "\(event.endpoint) from the cache", text, style: .store)
            case .cacheMiss(let reason) where reason != .invalidCacheTime:
                line("○", "\(event.endpoint) not from the cache", reason.rawValue, style: .dim)
            case .cacheStored(let bytes):
                line("●", "\(event.endpoint) stored in the cache", "\(bytes) B", style: .store)
            case .resumed(let offset):
                line("↻", "\(event.endpoint) resumes", "at byte \(offset)", style: .wire)
            default: break
            }
        }
    }

    private static func milliseconds(_ duration: Duration) -> String {
        let tenths = Int(duration / .microseconds(100))
        return "\(tenths / 10).\(tenths % 10) ms"
    }
}
