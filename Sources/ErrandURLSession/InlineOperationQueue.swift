import Foundation

/// A queue for a session's delegate that runs everything on the spot.
///
/// NB: with an ordinary queue, FoundationNetworking reads from the network as fast as it can and piles up
/// calls to a delegate that is slower. Run on the spot, a call returns before the next bytes are read. In
/// return no callback may block for long, cancel a task or answer a challenge: it holds the one queue that
/// all sessions of the process share.
// @unchecked: it has no state of its own.
final class InlineOperationQueue: OperationQueue, @unchecked Sendable {
    override func addOperation(_ block: @escaping @Sendable () -> Void) { block() }
}
