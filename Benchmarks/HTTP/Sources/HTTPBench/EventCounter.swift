import Errand
import Synchronization

/// A listener that only counts events, to measure the cost of events themselves.
final class EventCounter: RequestEventListener {
    private let count = Atomic<Int>(0)

    func handle(_ event: RequestEvent) { count.add(1, ordering: .relaxed) }
}
