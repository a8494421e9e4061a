public import ErrandHTTP

extension DownloadPlan {
    /// The number of requests that receive one file in parallel.
    ///
    ///     $0.segments = 4
    ///     $0.segments = .automatic
    public struct Segments: Sendable, Hashable, ExpressibleByIntegerLiteral {
        /// The maximum number of parallel requests, 1 to 32.
        public var maximum: Int
        /// The smallest range that is requested separately, in bytes (default 1 MiB).
        ///
        /// A file of less than twice this size comes in one request.
        public var minimumSize: Int64

        /// Creates a number of parallel requests.
        public init(maximum: Int, minimumSize: Int64 = 1 << 20) {
            self.maximum = maximum
            self.minimumSize = minimumSize
        }

        /// Creates a number of parallel requests.
        public init(integerLiteral value: Int) { self.init(maximum: value) }

        /// One request at a time, the default.
        public static let single: Segments = 1
        /// Up to four requests, for ranges of at least 8 MiB.
        public static let automatic = Segments(maximum: 4, minimumSize: 8 << 20)
    }

    /// The URLs under which the part file of an earlier start is resumed.
    public enum URLRule: String, Sendable, Hashable {
        /// The same URL.
        case identical
        /// A URL that differs only in its query, such as a signed URL with an expiry time.
        case ignoringQuery
        /// Any URL, such as that of a mirror.
        case any

        package func accepts(_ url: String, for recorded: String) -> Bool {
            self == .any || resource(url) == resource(recorded)
        }

        /// The part of a URL that names the resource.
        package func resource(_ url: String) -> Substring {
            self == .identical ? url[...] : url.prefix(upToByte: "?").prefix(upToByte: "#")
        }
    }

    /// A source of new URLs for a download whose URL expires.
    public struct URLRefresh: Sendable, Hashable {
        /// The status codes after which a new URL is asked for (default 401, 403, 404, 410).
        ///
        /// A 401 first lets an authenticator renew its credentials.
        public var statusCodes: Set<Int>

        /// Returns the next absolute URL of the same file; `nil` ends the download with the error.
        ///
        /// Called on any thread, without a lock. It may suspend, for example to send another request; cancelling the
        /// download cancels its Swift task.
        public var refreshedURL: @Sendable (_ error: RequestError) async throws -> String?

        /// Creates a source of URLs.
        ///
        /// - Parameters:
        ///   - statusCodes: The status codes after which a new URL is asked for.
        ///   - refreshedURL: Returns the next absolute URL of the same file, or `nil`.
        public init(
            after statusCodes: Set<Int> = [401, 403, 404, 410],
            refreshedURL: @escaping @Sendable (_ error: RequestError) async throws -> String?
        ) {
            self.statusCodes = statusCodes
            self.refreshedURL = refreshedURL
        }

        /// The number of new URLs that may follow each other without a byte from any of them.
        package static let maximumWithoutBytes = 5

        /// Whether the status codes are equal; closures cannot be compared.
        public static func == (one: Self, other: Self) -> Bool {
            one.statusCodes == other.statusCodes
        }

        /// Hashes the status codes.
        public func hash(into hasher: inout Hasher) { hasher.combine(statusCodes) }
    }
}
