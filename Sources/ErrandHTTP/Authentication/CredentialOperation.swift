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

    package init(_ refresher: some AnyObject, refreshing scope: String? = nil) {
        self.refresher = ObjectIdentifier(refresher)
        self.scope = scope
        outer = Self.current
    }

    package enum Kind: Sendable { case providing, refreshing }

    /// What the current Swift task does for an authenticator; `nil` if nothing.
    package static func kind(for refresher: some AnyObject) -> Kind? {
        var operation = current
        while let this = operation {
            if this.refresher == ObjectIdentifier(refresher) {
                return this.scope == nil ? .providing : .refreshing
            }
            operation = this.outer
        }
        return nil
    }

    /// The refreshes that wait for the current Swift task.
    package static var refreshes: [Refresh] {
        var refreshes: [Refresh] = []
        var operation = current
        while let this = operation {
            if let scope = this.scope {
                refreshes.append(Refresh(refresher: this.refresher, scope: scope))
            }
            operation = this.outer
        }
        return refreshes
    }
}

extension CredentialOperation.Refresh {
    fileprivate init(refresher: ObjectIdentifier, scope: String) {
        (self.refresher, self.scope) = (refresher, scope)
    }
}

extension CredentialOperation {
    private static let remedy =
        "Override usesAuthenticators with false in the requests that log in or refresh credentials"

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

    /// The error of the requests that wait for a refresh that exceeded its limit.
    package static func timedOut(_ limit: Duration) -> RequestError {
        RequestError(
            .authenticationFailed, stage: .adapt,
            "Refreshing the credentials took longer than \(limit), perhaps because it waits for a "
                + "request that waits for the refresh. \(remedy), or raise the refreshTimeout of "
                + "HostAuthenticator.")
    }
}
