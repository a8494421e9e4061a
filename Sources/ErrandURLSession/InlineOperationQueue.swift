import Foundation

/// A delegate queue that runs each operation inline, on the calling thread.
///
/// With an ordinary queue, FoundationNetworking (Swift 6.3.1) reads from the network without limit and queues
/// calls to a slower delegate. Inline, a call returns before the next bytes are read. Callbacks must therefore
/// not block for long, cancel a task or complete a challenge: they run on the one queue that all sessions of
/// the process share.
// @unchecked: the class has no state of its own.
final class InlineOperationQueue: OperationQueue, @unchecked Sendable {
    override func addOperation(_ block: @escaping @Sendable () -> Void) { block() }
}
