import Dispatch

/// Runs listener code for transfer events on threads of its own.
///
/// A transfer's thread serves many other transfers, and the listener code may wait for one of them.
package enum ListenerQueue {
    // Not the cooperative pool: a blocking listener would hold up every Swift task.
    private static let queue = DispatchQueue(label: "errand.listeners", attributes: .concurrent)

    package static func run(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }
}
