import ErrandCore
import Foundation

/// A member of a chain: a request, a batch or another chain.
nonisolated public protocol ChainMember: AnyObject {}

extension BaseRequest: ChainMember {}
extension BatchRequest: ChainMember {}
extension ChainRequest: ChainMember {}

/// The task of a member: a request's task, or the run of a nested batch or chain.
///
/// A run cancels and suspends the tasks of its members, and adds up their progress.
nonisolated protocol MemberTask: Sendable {
    var id: UUID { get }
    func cancel()
    func suspend()
    func resume()
    /// Calls the handler when the progress changes, serially, from any thread.
    func listen(_ handler: @escaping @Sendable (TransferProgress) -> Void)
}

extension RequestTask: MemberTask {
    nonisolated func listen(_ handler: @escaping @Sendable (TransferProgress) -> Void) {
        context.progress.listen(handler)
    }
}
