/// A host whose certificates held nothing that is pinned: ``RequestError/underlying`` of
/// ``RequestError/Code/pinMismatch``, or told by ``RequestEvent/Kind/pinMismatch(_:)``.
public struct PinMismatch: Error, Sendable, Hashable, CustomStringConvertible {
    /// The host.
    public let host: String
    /// SHA-256 digests of the public keys that were seen, base64, the server's own first.
    public let seen: [String]
    /// Whether the request went on.
    public let isReportOnly: Bool

    package init(host: String, seen: [String], isReportOnly: Bool) {
        self.host = host
        self.seen = seen
        self.isReportOnly = isReportOnly
    }

    /// The host and the keys.
    public var description: String {
        let keys = seen.isEmpty ? "no key" : seen.joined(separator: ", ")
        return "\(host) showed \(keys), which is not among its pins"
    }
}
