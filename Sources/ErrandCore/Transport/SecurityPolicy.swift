/// Whom to trust over TLS and what to show of oneself (rows TLS-1 to TLS-10).
///
/// Refused with ``RequestError/Code/unsupported`` by transports that cannot do it: on Linux only
/// `CurlTransport` can.
public struct SecurityPolicy: Sendable, Hashable {
    /// Certificates, PEM text, to trust in place of the system's; `nil` trusts the system's.
    public var authorities: String?
    /// A PEM file with certificates to trust in place of the system's.
    public var authorityFile: String?
    /// SHA-256 digests of public keys (SPKI), base64, one of which must be seen; empty pins nothing.
    public var publicKeyPins: [String] = []
    /// A PEM file with the client's certificate.
    public var clientCertificateFile: String?
    /// A PEM file with the client's key.
    public var clientKeyFile: String?
    /// Accepts any certificate of anybody: for tests on loopback only (default false).
    public var allowInvalidCertificates = false
    /// Whether the certificate must be for the host (default true).
    public var validatesDomainName = true
    /// The lowest TLS version to speak (default 1.2).
    public var minimumVersion: TLSVersion = .tls12

    /// Makes a policy that trusts what the system trusts.
    public init() {}

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
