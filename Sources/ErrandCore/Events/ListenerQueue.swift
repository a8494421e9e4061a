import ErrandSystem
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

    // Not the cooperative pool: a blocking listener would hold up every Swift task.
    private static let queue = DispatchQueue(label: "errand.listeners", attributes: .concurrent)
    private static let waiting = Mutex(DrainList<any Drainable>())
    /// Most transfers end before it, and the pipeline then delivers their events without another thread.
    private static let delay = DispatchTimeInterval.milliseconds(20)

    package static func run(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }

    /// Drains events in 20 ms, unless they have been delivered by then, or the ticket is cancelled.
    package static func drainSoon(_ events: any Drainable) -> DrainTicket {
        let ticket = waiting.withLock { $0.add(events) }
        // One timer for all requests that wait.
        if ticket.isFirst { queue.asyncAfter(deadline: .now() + delay) { drainAll() } }
        return ticket
    }

    /// Releases the events of a request that has ended; they are not drained.
    package static func cancel(_ ticket: DrainTicket) {
        let events = waiting.withLock { $0.remove(ticket) }
        // Released outside the lock.
        withExtendedLifetime(events) {}
    }

    private static func drainAll() {
        // A listener of one request may block.
        for events in waiting.withLock({ $0.removeAll() }) where events.needsDrain {
            run { events.drain() }
        }
    }
}

/// A place in a ``DrainList``.
package struct DrainTicket: Sendable, Hashable {
    fileprivate var list: Int
    fileprivate var index: Int

    /// Whether the list was empty before.
    package var isFirst: Bool { index == 0 }
}

/// The elements that wait for the next drain, as pure state.
///
/// The references are strong, because a weak one makes each count of its object slower from then on, so an element whose
/// request has ended must be removed.
package struct DrainList<Element> {
    private var elements: [Element?] = []
    /// The number of drains before the next one.
    private var number = 0

    package init() {}

    package mutating func add(_ element: Element) -> DrainTicket {
        elements.append(element)
        return DrainTicket(list: number, index: elements.count - 1)
    }

    /// Removes an element; `nil` if it was drained or removed before.
    package mutating func remove(_ ticket: DrainTicket) -> Element? {
        ticket.list == number ? elements[ticket.index].take() : nil
    }

    /// Removes all elements for a drain, in the order of their addition.
    package mutating func removeAll() -> [Element] {
        number += 1
        return exchange(&elements, with: []).compactMap(\.self)
    }
}
