package import ErrandSystem
import Synchronization

/// A security policy in reference-counted storage, with what is known about it for every host.
///
/// Most requests of an agent have the same policy. A reference costs less than a copy, and checks that depend on
/// neither the host nor the time run once.
package final class SharedSecurity: Sendable {
    /// The policy.
    package let policy: SecurityPolicy
    /// Whether the policy has pins, so that its rules depend on the host and the time.
    package let hasPins: Bool
    /// Whether certificates or keys are given as text or data instead of files.
    package let hasCertificatesInMemory: Bool
    /// The paths of all certificate and key files.
    package let files: [String]
    private let commonRules: TrustRules?
    private let isValidForEveryHost: Bool
    /// Whether all files were readable once.
    private let hadReadableFiles = Atomic(false)

    package init(_ policy: SecurityPolicy) {
        self.policy = policy
        hasPins = !policy.pins.isEmpty || !policy.publicKeyPins.isEmpty
        hasCertificatesInMemory = policy.authorities != nil || policy.clientIdentity != nil
        files =
            [policy.authorityFile, policy.clientCertificateFile, policy.clientKeyFile]
            .compactMap { $0 } + (policy.clientIdentity?.files ?? [])
        guard !hasPins else {
            commonRules = nil
            isValidForEveryHost = false
            return
        }
        let moment = Date.distantPast
        commonRules = TrustRules(policy, host: "", now: moment)
        // A mistake is thrown by the check of a request, which names the host.
        isValidForEveryHost =
            (try? policy.check(host: "", isSecure: true, now: moment)) != nil
    }

    /// Throws ``RequestError/Code/invalidConfiguration`` if the policy is invalid or cannot apply to this host.
    package func check(host: String, isSecure: Bool, now: Date) throws(RequestError) {
        if isValidForEveryHost { return }
        try policy.check(host: host, isSecure: isSecure, now: now)
    }

    /// The rules for a host; without pins they are the same for every host, and name none.
    package func rules(for host: String, now: Date) -> TrustRules {
        commonRules ?? TrustRules(policy, host: host, now: now)
    }

    /// The first certificate or key file that cannot be read; once all could, they are not examined again.
    ///
    /// If a file is removed later, the next new connection fails. The transport then examines the files again, to
    /// report the cause.
    package func unreadableFile(_ isReadable: (String) -> Bool) -> String? {
        if files.isEmpty || hadReadableFiles.load(ordering: .relaxed) { return nil }
        if let file = files.first(where: { !isReadable($0) }) { return file }
        hadReadableFiles.store(true, ordering: .relaxed)
        return nil
    }
}

extension SharedSecurity: Hashable {
    /// Whether both policies are equal; the same reference needs no comparison.
    package static func == (one: SharedSecurity, other: SharedSecurity) -> Bool {
        one === other || one.policy == other.policy
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(policy) }
}
