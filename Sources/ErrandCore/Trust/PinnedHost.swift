public import Foundation

/// What the certificates of a host must hold beside being trusted: one of several keys, or one of several
/// certificates.
///
/// Pin at least one key that is not in use yet, kept in a safe place: with it a lost key does not lock users out.
///
///     PinnedHost(
///         "example.com", includesSubdomains: true,
///         publicKeys: ["r/mIkG3eEpVdm+u/ko/cwxzOMo1bk4TyHIlByibiA5E=", backup], expires: nextYear)
public struct PinnedHost: Sendable, Hashable {
    /// The host, such as `api.example.com`; any port.
    public var host: String
    /// Whether hosts below it are meant, too (default false).
    ///
    /// Not below a domain under which anybody may register names: `co.uk` is refused.
    public var includesSubdomains: Bool
    /// SHA-256 digests of public keys (SPKI), base64: one must be in the verified chain.
    ///
    /// Where ``SecurityPolicy/allowInvalidCertificates`` leaves the chain unverified, only the server's own key
    /// counts: a server may send any certificate behind its own.
    public var publicKeys: [String]
    /// Certificates, PEM text: the chain must lead to one of them, whether it is the server's own, an intermediate
    /// or a root.
    public var certificates: [String]
    /// From when on the pins do not hold any more; `nil`, the default, is never.
    ///
    /// What is left then is the judgement of the authorities, also with
    /// ``SecurityPolicy/allowInvalidCertificates``.
    public var expires: Date?
    /// Whether a mismatch is only told, by ``RequestEvent/Kind/pinMismatch(_:)``, and the request goes on (default
    /// false).
    public var isReportOnly: Bool

    /// Makes pins for a host; at least one key or certificate is needed.
    public init(
        _ host: String, includesSubdomains: Bool = false, publicKeys: [String] = [],
        certificates: [String] = [], expires: Date? = nil, isReportOnly: Bool = false
    ) {
        self.host = host
        self.includesSubdomains = includesSubdomains
        self.publicKeys = publicKeys
        self.certificates = certificates
        self.expires = expires
        self.isReportOnly = isReportOnly
    }
}
