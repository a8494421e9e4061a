import ErrandCore
import Foundation

/// What a chain goes through: a request, a batch, or another chain.
nonisolated public protocol ChainMember: AnyObject {}

extension BaseRequest: ChainMember {}
extension BatchRequest: ChainMember {}
extension ChainRequest: ChainMember {}

/// What a run cancels, holds and adds up: a request's task, or the run of a batch or chain within it.
nonisolated protocol MemberTask: Sendable {
    var id: UUID { get }
    func cancel()
    func suspend()
    func resume()
    /// Calls back on changes of the bytes, from any thread, one call at a time.
    func listen(_ handler: @escaping @Sendable (TransferProgress) -> Void)
}

extension RequestTask: MemberTask {
    nonisolated func listen(_ handler: @escaping @Sendable (TransferProgress) -> Void) {
        context.progress.listen(handler)
    }
}
