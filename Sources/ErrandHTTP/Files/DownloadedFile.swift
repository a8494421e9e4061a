public import ErrandSystem

/// The finished file of a download.
public struct DownloadedFile: Sendable, Hashable {
    /// The file.
    public var file: URL
    /// The size of the file in bytes.
    public var bytes: Int64
    /// The number of bytes that were on the disk when the request began, and were not received again.
    ///
    /// 0 for a file that was received from its first byte; equal to ``bytes`` if nothing was missing.
    public var resumedOffset: Int64
    /// The digests of the file that were computed, at most one for each algorithm.
    ///
    /// Those that were expected, and those of ``DownloadPlan/computedDigests``.
    public var digests: [Digest]
    /// The `Content-Type` of the response; `nil` if it has none.
    public var contentType: String?
    /// The name that the server proposes, as one safe path component; see ``Response/suggestedFilename``.
    public var suggestedName: String
    /// Whether the file existed before and was kept, by ``DownloadPlan/ExistingFile/keep``; nothing was downloaded then.
    ///
    /// Also if the file appeared while the new one was received, which was deleted then. Default false.
    public var wasKept: Bool
    /// The time from the start of the request until the file was complete, by the agent's clock.
    public var duration: Duration

    /// Creates the value of a file, for example in a test.
    public init(
        file: URL, bytes: Int64, resumedOffset: Int64 = 0, digests: [Digest] = [],
        contentType: String? = nil, suggestedName: String? = nil, duration: Duration = .zero,
        wasKept: Bool = false
    ) {
        self.file = file
        self.bytes = bytes
        self.resumedOffset = resumedOffset
        self.digests = digests
        self.contentType = contentType
        self.suggestedName = suggestedName ?? file.lastPathComponent
        self.duration = duration
        self.wasKept = wasKept
    }

    /// The path of the file.
    public var path: String { file.path }

    /// The digest of an algorithm; `nil` if it was not computed.
    public func digest(_ algorithm: Digest.Algorithm) -> Digest? {
        digests.first { $0.algorithm == algorithm }
    }
}

extension DownloadedFile {
    /// A digest of a file: the value of a hash function.
    public struct Digest: Sendable, Hashable, CustomStringConvertible {
        /// The hash function.
        public let algorithm: Algorithm
        /// The value in lower-case hexadecimal digits.
        public let hex: String

        /// Creates a digest from hexadecimal digits.
        ///
        /// A download that expects a digest with a wrong number of digits fails with
        /// ``RequestError/Code/invalidConfiguration``, before anything is sent.
        public init(_ algorithm: Algorithm, hex: String) {
            self.algorithm = algorithm
            self.hex = hex.lowercasedASCII()
        }

        /// Creates a digest from its bytes.
        public init(_ algorithm: Algorithm, bytes: some Sequence<UInt8>) {
            self.init(algorithm, hex: bytes.lowercaseHex)
        }

        /// A SHA-256 in hexadecimal digits.
        public static func sha256(_ hex: String) -> Digest { Digest(.sha256, hex: hex) }
        /// A SHA-512 in hexadecimal digits.
        public static func sha512(_ hex: String) -> Digest { Digest(.sha512, hex: hex) }
        /// A SHA-1 in hexadecimal digits.
        public static func sha1(_ hex: String) -> Digest { Digest(.sha1, hex: hex) }
        /// An MD5 in hexadecimal digits.
        public static func md5(_ hex: String) -> Digest { Digest(.md5, hex: hex) }

        /// The name of the algorithm and the hexadecimal digits.
        public var description: String { "\(algorithm.rawValue) \(hex)" }

        /// Whether the number of digits is that of the algorithm.
        package var isValid: Bool {
            hex.utf8.count == 2 * algorithm.byteCount
                && hex.utf8.allSatisfy(ByteSet.hexDigits.contains)
        }

        /// A hash function.
        ///
        /// MD5 and SHA-1 detect damage, not manipulation.
        public enum Algorithm: String, Sendable, Hashable, CaseIterable {
            /// SHA-256 (FIPS 180-4).
            case sha256 = "SHA-256"
            /// SHA-512 (FIPS 180-4).
            case sha512 = "SHA-512"
            /// SHA-1 (FIPS 180-4).
            case sha1 = "SHA-1"
            /// MD5 (RFC 1321).
            case md5 = "MD5"

            /// The length of a digest in bytes.
            public var byteCount: Int {
                switch self {
                case .sha256: 32
                case .sha512: 64
                case .sha1: 20
                case .md5: 16
                }
            }
        }
    }

    /// The reason of ``RequestError/Code/digestMismatch``, as ``RequestError/underlying``.
    public struct DigestMismatch: Error, Sendable, Hashable, CustomStringConvertible {
        /// The expected digest.
        public let expected: Digest
        /// The digest of the file, of the same algorithm.
        public let found: Digest

        package init(expected: Digest, found: Digest) {
            self.expected = expected
            self.found = found
        }

        /// The algorithm and both values.
        public var description: String {
            "the file has \(found), expected \(expected.hex)"
        }
    }
}
