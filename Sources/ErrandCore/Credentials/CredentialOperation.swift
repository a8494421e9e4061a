package import ErrandHTTP
import Synchronization

/// A call of an authenticator, as the requests that it sends see it: they must not wait for it.
///
/// A linked list, because an authenticator may send requests that another authenticator serves. An
/// authenticator is identified by the object that performs its refreshes.
package final class CredentialOperation: Sendable {
    /// The innermost operation of the current Swift task.
    @TaskLocal package static var current: CredentialOperation?

    /// One scope of an authenticator that is being refreshed.
    package struct Refresh: Hashable, Sendable {
        let refresher: ObjectIdentifier
        let scope: String

        package init(of refresher: some AnyObject, scope: String) {
            self.refresher = ObjectIdentifier(refresher)
            self.scope = scope
        }
    }

    private let refresher: ObjectIdentifier
    /// `nil` while the authenticator provides credentials.
    private let scope: String?
    private let outer: CredentialOperation?
    private let hasEnded = Atomic(false)

    package init(_ refresher: some AnyObject, refreshing scope: String? = nil) {
        self.refresher = ObjectIdentifier(refresher)
        self.scope = scope
        outer = Self.current
    }

    /// Ends the operation: Swift tasks that were started in it may go on, and are then ordinary ones.
    package func end() { hasEnded.store(true, ordering: .relaxed) }

    /// The operations of the current Swift task that have not ended, the innermost first.
    private static var active: some Sequence<CredentialOperation> {
        sequence(first: current) { $0?.outer }.lazy
            .prefix { $0 != nil }.compactMap(\.self)
            .filter { !$0.hasEnded.load(ordering: .relaxed) }
    }

    /// Whether the current Swift task belongs to a call of an authenticator.
    package static var isActive: Bool { current != nil && active.contains { _ in true } }

    package enum Kind: Sendable { case providing, refreshing }

    /// What the current Swift task does for an authenticator; `nil` if nothing.
    package static func kind(for refresher: some AnyObject) -> Kind? {
        guard current != nil,
            let operation = active.first(where: { $0.refresher == ObjectIdentifier(refresher) })
        else { return nil }
        return operation.scope == nil ? .providing : .refreshing
    }

    /// The refreshes that wait for the current Swift task.
    package static var refreshes: [Refresh] {
        guard current != nil else { return [] }
        return active.compactMap { operation in
            operation.scope.map { Refresh(refresher: operation.refresher, scope: $0) }
        }
    }
}

extension CredentialOperation.Refresh {
    fileprivate init(refresher: ObjectIdentifier, scope: String) {
        (self.refresher, self.scope) = (refresher, scope)
    }
}

extension CredentialOperation {
    private static let remedy =
        "Remove .authenticators from uses in the requests that log in or refresh credentials"

    /// The error of a request that would wait for a refresh that waits for this request.
    package static var cycle: RequestError {
        RequestError(
            .authenticationFailed, stage: .adapt,
            "Two refreshes of credentials wait for each other's requests. \(remedy).")
    }

    /// The error of a request that an authenticator sends while it provides credentials for it.
    package static func recursion(_ endpoint: String) -> RequestError {
        RequestError(
            .authenticationFailed, stage: .adapt,
            "The authenticator sends \(endpoint) to get credentials, but \(endpoint) needs credentials "
                + "of the same authenticator. \(remedy). Nothing was sent.")
    }

    /// The reason for a time-out of a request that waits for a refresh.
    package static var interrupted: RequestError {
        RequestError(
            .authenticationFailed, stage: .adapt,
            "The request waited for a refresh of its credentials, which perhaps waits for this request. \(remedy)."
        )
    }

    /// The error of the requests that wait for a refresh that exceeded its limit.
    package static func timedOut(_ limit: Duration) -> RequestError {
        RequestError(
            .authenticationFailed, stage: .adapt,
            "Refreshing the credentials took longer than \(limit), perhaps because it waits for a "
                + "request that waits for the refresh. \(remedy), or raise the authenticator's "
                + "refreshTimeout.")
    }
}
