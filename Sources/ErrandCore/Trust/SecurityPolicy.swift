/// Whom to trust over TLS and what to show of oneself (rows TLS-1 to TLS-10).
///
/// For example, two keys of which one must be in the verified chain of `api.example.com`:
///
///     var policy = SecurityPolicy()
///     policy.pins = [PinnedHost("api.example.com", publicKeys: [current, backup])]
///     configuration.transport.security = policy
///
/// Refused with ``RequestError/Code/unsupported`` by transports that cannot do it: on Linux only
/// `CurlTransport` can. The whole table of decisions is in `docs/security.md`.
public struct SecurityPolicy: Sendable, Hashable {
    /// Certificates, PEM text, to trust in place of the system's; `nil` trusts the system's.
    public var authorities: String?
    /// A PEM file with certificates to trust in place of the system's.
    ///
    /// It is read once and kept; a changed file is noticed under a new name, or after a day.
    public var authorityFile: String?
    /// Pins of single hosts and domains (default none).
    ///
    /// Of several that fit a host, those with the longest name hold; of those, one must fit.
    public var pins: [PinnedHost] = []
    /// SHA-256 digests of public keys (SPKI), base64, one of which must be in the verified chain of every host
    /// that ``pins`` does not name; empty pins nothing.
    public var publicKeyPins: [String] = []
    /// A PEM file with the client's certificate.
    public var clientCertificateFile: String?
    /// A PEM file with the client's key.
    public var clientKeyFile: String?
    /// The client's certificate and key in any other form; in place of the two files (default none).
    public var clientIdentity: ClientIdentity?
    /// Accepts certificates that no authority vouches for, and those out of date (default false).
    ///
    /// Something else must vouch then: pins that hold for the host, or nothing at all with ``validatesDomainName``
    /// off, too. Anything else is refused with ``RequestError/Code/invalidConfiguration``. For tests use
    /// ``insecureForTests``.
    public var allowInvalidCertificates = false
    /// Whether the certificate must be for the host (default true).
    public var validatesDomainName = true
    /// The lowest TLS version to speak (default 1.2).
    public var minimumVersion: TLSVersion = .tls12

    /// Makes a policy that trusts what the system trusts.
    public init() {}

    /// Accepts any certificate of anybody, also one for another host: for tests on loopback, and nothing else.
    ///
    /// Whoever sits on the wire can read and change everything.
    public static var insecureForTests: SecurityPolicy {
        var policy = SecurityPolicy()
        policy.allowInvalidCertificates = true
        policy.validatesDomainName = false
        return policy
    }

    /// A version of TLS.
    public enum TLSVersion: Int, Sendable, Hashable, Comparable {
        /// TLS 1.2
        case tls12 = 12
        /// TLS 1.3
        case tls13 = 13

        /// Orders from old to new.
        public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }
}
