import Dispatch
import Synchronization

/// Runs listener code for transfer events on threads of its own.
///
/// A transfer's thread serves many other transfers, and the listener code may wait for one of them.
package enum ListenerQueue {
    /// Events that wait for delivery.
    package protocol Drainable: AnyObject, Sendable {
        /// Whether ``drain()`` has something to deliver.
        var needsDrain: Bool { get }
        func drain()
    }

    /// A request that has ended is not kept: its events were delivered before its end.
    private struct Entry: Sendable {
        weak var events: (any Drainable)?
    }

    // Not the cooperative pool: a blocking listener would hold up every Swift task.
    private static let queue = DispatchQueue(label: "errand.listeners", attributes: .concurrent)
    private static let waiting = Mutex<[Entry]>([])
    /// Most transfers end before it, and the pipeline then delivers their events without another thread.
    private static let delay = DispatchTimeInterval.milliseconds(20)

    package static func run(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }

    /// Drains events in 20 ms, unless they have been delivered by then.
    package static func drainSoon(_ events: any Drainable) {
        let isFirst = waiting.withLock { waiting in
            waiting.append(Entry(events: events))
            return waiting.count == 1
        }
        // One timer for all requests that wait.
        if isFirst { queue.asyncAfter(deadline: .now() + delay) { drainAll() } }
    }

    private static func drainAll() {
        let all = waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        // A listener of one request may block.
        for entry in all {
            guard let events = entry.events, events.needsDrain else { continue }
            run { events.drain() }
        }
    }
}
