public import ErrandSystem

extension SecurityPolicy {
    /// The public keys or certificates that one host must present, in addition to passing normal validation.
    ///
    /// One match is enough. Pin at least one backup key that is not in use yet and keep it in a safe place,
    /// so that a lost key does not lock users out.
    ///
    ///     SecurityPolicy.Pins(
    ///         "example.com", includesSubdomains: true,
    ///         publicKeys: ["r/mIkG3eEpVdm+u/ko/cwxzOMo1bk4TyHIlByibiA5E=", backup], expires: nextYear)
    public struct Pins: Sendable, Hashable {
        /// The host name, such as `api.example.com`; the pin applies to every port.
        public var host: String
        /// Whether the pin also applies to subdomains (default false).
        ///
        /// A public suffix such as `co.uk` with subdomains is refused with
        /// ``RequestError/Code/invalidConfiguration``.
        public var includesSubdomains: Bool
        /// The SHA-256 digests of public keys (SPKI), base64; one must be in the verified chain.
        ///
        /// If ``SecurityPolicy/allowInvalidCertificates`` leaves the chain unverified, only the leaf key counts,
        /// because a server can append any certificate to its own.
        public var publicKeys: [String]
        /// The pinned certificates as PEM text; the chain must contain or lead to one of them.
        ///
        /// Each can be a leaf, an intermediate or a root certificate.
        public var certificates: [String]
        /// The date from which the pin no longer applies; `nil`, the default, means never.
        ///
        /// From then on the normal validation of the chain applies, even with
        /// ``SecurityPolicy/allowInvalidCertificates``.
        public var expires: Date?
        /// Whether a mismatch only emits ``RequestEvent/Kind/pinMismatch(_:)`` (default false).
        ///
        /// If true, the request continues after a mismatch.
        public var isReportOnly: Bool

        /// Creates the pins of a host; at least one key or certificate is required.
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
}
