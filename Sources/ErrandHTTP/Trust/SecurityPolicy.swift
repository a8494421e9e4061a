/// The rules that decide which TLS servers are trusted, and the client certificate to present.
///
/// For example, this policy requires one of two keys in the verified chain of `api.example.com`:
///
///     var policy = SecurityPolicy()
///     policy.pins = [SecurityPolicy.Pins("api.example.com", publicKeys: [current, backup])]
///     configuration.transportOptions.security = policy
///
/// A transport that cannot apply the policy refuses the request with
/// ``RequestError/Code/unsupported``. `CurlTransport` applies all of it; `URLSessionTransport` applies none of it on
/// Linux, and all but client certificates in PEM on Apple platforms. The article Security contains the complete
/// decision table.
public struct SecurityPolicy: Sendable, Hashable {
    /// The trusted root certificates as PEM text; `nil`, the default, uses the system's.
    public var authorities: String?
    /// The path of a file with the trusted root certificates; `nil`, the default, uses the system's.
    ///
    /// It contains PEM text, or one certificate in DER. The file is read once and cached for one day. To apply a change earlier, use a new file name.
    public var authorityFile: String?
    /// The pins of single hosts and domains (default none).
    ///
    /// If several entries match a host, only those with the longest name apply, and one of them must match.
    public var pins: [SecurityPolicy.Pins] = []
    /// The SHA-256 digests of public keys (SPKI), base64, for every host without an entry in ``pins``.
    ///
    /// One of them must be in the verified chain. Default empty: no pinning.
    public var publicKeyPins: [String] = []
    /// The path of a PEM file with the client certificate (default none).
    public var clientCertificateFile: String?
    /// The path of a PEM file with the private key of the client certificate (default none).
    public var clientKeyFile: String?
    /// The client certificate and its private key, as an alternative to the two files (default none).
    public var clientIdentity: ClientIdentity?
    /// Whether certificates that are expired or not signed by a trusted authority are accepted (default false).
    ///
    /// If true, the host must also be pinned, or ``validatesDomainName`` must be false; otherwise requests
    /// fail with ``RequestError/Code/invalidConfiguration``. For tests use ``insecureForTests``.
    public var allowInvalidCertificates = false
    /// Whether the certificate must match the host name (default true).
    public var validatesDomainName = true
    /// The minimum TLS version (default 1.2).
    public var minimumVersion: TLSVersion = .tls12

    /// Creates a policy with the system's trust and no pins.
    public init() {}

    /// A policy that accepts every certificate, for tests on the loopback interface only.
    ///
    /// It does not check the host name either. An attacker on the network can read and change all data.
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

        /// Orders versions from old to new.
        public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }
}
