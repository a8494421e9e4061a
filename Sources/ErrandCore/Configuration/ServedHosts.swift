/// The hosts that an authenticator serves, and the refresher of the authenticator.
struct ServedHosts: Sendable {
    let pattern: HostPattern
    let refresher: CredentialRefresher

    var authenticator: any Authenticator { refresher.authenticator }

    /// The entries of ``Configuration/authenticators``, the most specific pattern first.
    static func entries(of authenticators: [HostPattern: any Authenticator]) -> [ServedHosts] {
        authenticators
            .map { ServedHosts(pattern: $0.key, refresher: .refresher(of: $0.value)) }
            .sorted { $1.pattern.isLessSpecific(than: $0.pattern) }
    }
}
