/// An authenticator and the hosts that may receive its credentials.
///
/// The first one that matches a host serves it. Copies, in other configurations too, share
/// refreshes in progress.
public struct HostAuthenticator: Sendable {
    /// The hosts.
    public let hosts: HostPattern
    /// The authenticator.
    public let authenticator: any Authenticator
    let refresher = CredentialRefresher()

    /// Creates an entry that serves the hosts with the authenticator.
    public init(_ hosts: HostPattern, _ authenticator: any Authenticator) {
        self.hosts = hosts
        self.authenticator = authenticator
    }
}
