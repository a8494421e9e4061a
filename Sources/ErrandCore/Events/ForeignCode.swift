import Dispatch

/// Where users' code runs that is told of a transfer: never on the transfer's own thread, which serves a hundred
/// others, and which that code may be waiting for.
enum ForeignCode {
    // Not the pool of Swift tasks: code that blocks there holds up everything else.
    private static let queue = DispatchQueue(label: "errand.listeners", attributes: .concurrent)

    static func run(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }
}
