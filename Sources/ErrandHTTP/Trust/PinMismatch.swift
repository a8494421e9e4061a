extension SecurityPolicy {
    /// A host whose certificates match none of its pins.
    ///
    /// It is the ``RequestError/underlying`` error of ``RequestError/Code/pinMismatch``, or the value of
    /// ``RequestEvent/Kind/pinMismatch(_:)``.
    public struct PinMismatch: Error, Sendable, Hashable, Codable, CustomStringConvertible {
        /// The host name.
        public let host: String
        /// The SHA-256 digests of the public keys that the server presented, base64, leaf key first.
        public let seen: [String]
        /// Whether the pin only reports mismatches, so that the request continued.
        public let isReportOnly: Bool

        package init(host: String, seen: [String], isReportOnly: Bool) {
            self.host = host
            self.seen = seen
            self.isReportOnly = isReportOnly
        }

        /// The host and the keys that it presented.
        public var description: String {
            let keys = seen.isEmpty ? "no key" : seen.joined(separator: ", ")
            return "\(host) presented \(keys), which matches none of its pins"
        }
    }
}

/// A host whose certificates match none of its pins.
public typealias PinMismatch = SecurityPolicy.PinMismatch
