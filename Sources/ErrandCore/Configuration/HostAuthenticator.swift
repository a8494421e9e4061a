/// An authenticator and the hosts that may receive its credentials.
///
/// The first one that matches a host serves it. Copies, in other configurations too, share
/// refreshes in progress.
public struct HostAuthenticator: Sendable {
    /// The hosts.
    public let hosts: HostPattern
    /// The authenticator.
    public let authenticator: any Authenticator
    let refresher: CredentialRefresher

    /// The limit of one refresh; `nil` means no limit.
    public var refreshTimeout: Duration? { refresher.limit }

    /// Creates an entry that serves the hosts with the authenticator.
    ///
    /// - Parameters:
    ///   - hosts: The hosts.
    ///   - authenticator: The authenticator.
    ///   - refreshTimeout: The limit of one refresh (default 60 s); `nil` means no limit. A refresh
    ///     that takes longer is cancelled, and its result is ignored. The requests that wait for it
    ///     fail with ``RequestError/Code/authenticationFailed``; the next 401 starts a new refresh.
    ///     A limit of zero or less fails requests with ``RequestError/Code/invalidConfiguration``.
    public init(
        _ hosts: HostPattern, _ authenticator: any Authenticator,
        refreshTimeout: Duration? = .seconds(60)
    ) {
        self.hosts = hosts
        self.authenticator = authenticator
        refresher = CredentialRefresher(limit: refreshTimeout)
    }
}

extension HostAuthenticator: CustomStringConvertible, CustomReflectable {
    /// The hosts, without the credentials.
    public var description: String { "HostAuthenticator for \(hosts)" }
    /// No children, so that dumps do not contain credentials.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
