public import ErrandCore
public import ErrandHTTP
public import ErrandSystem
public import HTTPTypes

extension DownloadQueue {
    /// One download of a queue.
    ///
    /// It is stored in the database as plain text. Credentials belong to an authenticator of the agent, and cookies
    /// to its cookie storage; headers with credentials are refused.
    public struct Download: Sendable, Hashable, Codable {
        /// The URL.
        ///
        /// ``DownloadQueue/add(_:)`` refuses a URL with a value that would lead to another file.
        public var url: EndpointURL {
            get { storedURL.url }
            set { storedURL = StoredEndpointURL(newValue) }
        }
        private var storedURL: StoredEndpointURL
        /// The finished file, or an existing folder: then the response names the file.
        public var destination: URL
        /// The handling of an existing file (default `nil`: replaced; in a folder, the new one is renamed).
        ///
        /// `nil` is ``DownloadPlan/ExistingFile/overwrite`` if ``destination`` is a file, because the caller has chosen
        /// its name. It is ``DownloadPlan/ExistingFile/rename`` if it is a folder: responses choose the names there,
        /// and two of them may choose the same one.
        public var existingFile: DownloadPlan.ExistingFile? {
            get { policy?.value }
            set { policy = newValue.map(StoredPolicy.init) }
        }
        /// The headers of the request, beside those of the agent's configuration (default none).
        ///
        /// ``DownloadQueue/add(_:)`` refuses fields with credentials, such as `Authorization` and `Cookie`.
        public var headers: HTTPFields
        /// The expected digests of the finished file, of any algorithms; another file is deleted (default none).
        public var expectedDigests: [DownloadedFile.Digest] {
            get { digests.compactMap(\.value) }
            set { digests = newValue.map(StoredDigest.init) }
        }
        /// The number of requests that receive the file in parallel (default 1).
        public var segments: Int
        /// Downloads with a higher priority start first (default normal); see ``priorityLevel`` for finer steps.
        public var priority: RequestPriority {
            get { RequestPriority(level: priorityLevel) }
            set { priorityLevel = newValue.rawValue }
        }
        /// The priority as any integer; downloads with a greater one start first (default 0, normal).
        ///
        /// ``priority`` is one of three levels: low is -4, normal 0, high 4. A request gets the priority `low` for levels
        /// below 0, and `high` for levels above 0.
        public var priorityLevel: Int
        /// The retry policy (default `nil`: that of the queue).
        ///
        /// ``DownloadQueue/add(_:)`` refuses numbers that no request can have.
        public var retryPolicy: RetryPolicy? {
            get { retry?.value }
            set { retry = newValue.map(StoredRetryPolicy.init) }
        }
        /// The time limits (default `nil`: those of the agent).
        public var timeouts: Timeouts?
        /// Texts of the app that are stored with the download (default none).
        ///
        /// For example an identifier for ``DownloadQueue/URLRefresh``. They are stored as plain text.
        public var metadata: [String: String] {
            get { texts ?? [:] }
            set { texts = newValue }
        }
        /// The time before which the download does not start (default `nil`: none).
        ///
        /// ``DownloadQueue/add(_:)`` refuses a date that is not finite.
        public var notBefore: Date?
        /// Whether the download runs only while the network is known to be neither expensive nor constrained (default
        /// false).
        ///
        /// Needs `configuration.reachability`: an unknown status is not unmetered. A download that runs is paused when
        /// the status changes.
        public var requiresUnmeteredNetwork: Bool
        private var digests: [StoredDigest]
        /// Missing in the databases of earlier versions.
        private var policy: StoredPolicy?
        private var retry: StoredRetryPolicy?
        private var texts: [String: String]?

        private enum CodingKeys: String, CodingKey {
            case storedURL = "url"
            case destination, headers, segments, notBefore, requiresUnmeteredNetwork, digests
            case policy, retry, timeouts, texts
            case priorityLevel = "priorityValue"
        }

        /// Creates a download.
        public init(
            _ url: EndpointURL, to destination: URL,
            existingFile: DownloadPlan.ExistingFile? = nil, headers: HTTPFields = [:],
            expectedDigests: [DownloadedFile.Digest] = [], segments: Int = 1,
            priority: RequestPriority = .normal, notBefore: Date? = nil,
            requiresUnmeteredNetwork: Bool = false
        ) {
            storedURL = StoredEndpointURL(url)
            self.destination = destination
            policy = existingFile.map(StoredPolicy.init)
            self.headers = headers
            digests = expectedDigests.map(StoredDigest.init)
            self.segments = segments
            priorityLevel = priority.rawValue
            self.notBefore = notBefore
            self.requiresUnmeteredNetwork = requiresUnmeteredNetwork
        }
    }

    /// The stored form of a digest.
    private struct StoredDigest: Sendable, Hashable, Codable {
        var algorithm: String
        var hex: String

        init(_ digest: DownloadedFile.Digest) {
            (algorithm, hex) = (digest.algorithm.rawValue, digest.hex)
        }

        var value: DownloadedFile.Digest? {
            DownloadedFile.Digest.Algorithm(rawValue: algorithm).map { .init($0, hex: hex) }
        }
    }

    /// The stored form of a retry policy.
    private struct StoredRetryPolicy: Sendable, Hashable, Codable {
        var maximumAttempts: Int
        var baseDelay: Duration
        var maximumDelay: Duration
        var maximumRetryAfter: Duration
        var statusCodes: Set<Int>
        var retriesNonIdempotent: Bool
        var attemptTimeout: Duration?
        var sendsIdempotencyKey: Bool

        init(_ policy: RetryPolicy) {
            maximumAttempts = policy.maximumAttempts
            baseDelay = policy.baseDelay
            maximumDelay = policy.maximumDelay
            maximumRetryAfter = policy.maximumRetryAfter
            statusCodes = policy.retryableStatusCodes
            retriesNonIdempotent = policy.retriesNonIdempotent
            attemptTimeout = policy.attemptTimeout
            sendsIdempotencyKey = policy.sendsIdempotencyKey
        }

        var value: RetryPolicy {
            RetryPolicy(
                maximumAttempts: maximumAttempts, baseDelay: baseDelay, maximumDelay: maximumDelay,
                maximumRetryAfter: maximumRetryAfter, retryableStatusCodes: statusCodes,
                retriesNonIdempotent: retriesNonIdempotent, attemptTimeout: attemptTimeout,
                sendsIdempotencyKey: sendsIdempotencyKey)
        }
    }

    /// The stored form of a finished file.
    struct StoredFile: Sendable, Hashable, Codable {
        private var url: URL
        private var bytes: Int64
        private var resumedOffset: Int64
        private var digests: [StoredDigest]
        private var contentType: String?
        private var suggestedName: String
        private var duration: Duration
        private var wasKept: Bool

        init(_ file: DownloadedFile) {
            (url, bytes, resumedOffset) = (file.file, file.bytes, file.resumedOffset)
            digests = file.digests.map(StoredDigest.init)
            (contentType, suggestedName) = (file.contentType, file.suggestedName)
            (duration, wasKept) = (file.duration, file.wasKept)
        }

        var value: DownloadedFile {
            DownloadedFile(
                file: url, bytes: bytes, resumedOffset: resumedOffset,
                digests: digests.compactMap(\.value), contentType: contentType,
                suggestedName: suggestedName, duration: duration, wasKept: wasKept)
        }
    }

    /// The error of a failed download, as far as it can be stored.
    public struct Failure: Sendable, Hashable, Codable, CustomStringConvertible {
        /// The kind of failure.
        public let code: RequestError.Code
        /// The failure and how to resolve it, without secrets; see ``RequestError/message``.
        public let message: String
        /// The status of the response; `nil` if there was none.
        public let statusCode: Int?
        /// The number of attempts.
        public let attempts: Int

        init(_ error: RequestError) {
            (code, message, attempts) = (error.code, error.message, error.attempts)
            statusCode = error.response?.statusCode
        }

        /// The code and the message.
        public var description: String { "\(code): \(message)" }

        private enum CodingKeys: String, CodingKey { case code, message, statusCode, attempts }

        /// Decodes a failure; a code of a later version is ``RequestError/Code/transportFailed``.
        public init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            let name = try values.decode(String.self, forKey: .code)
            code = RequestError.Code.all.first { $0.description == name } ?? .transportFailed
            message = try values.decode(String.self, forKey: .message)
            statusCode = try values.decodeIfPresent(Int.self, forKey: .statusCode)
            attempts = try values.decode(Int.self, forKey: .attempts)
        }

        /// Encodes the failure, with the name of its code.
        public func encode(to encoder: any Encoder) throws {
            var values = encoder.container(keyedBy: CodingKeys.self)
            try values.encode(code.description, forKey: .code)
            try values.encode(message, forKey: .message)
            try values.encodeIfPresent(statusCode, forKey: .statusCode)
            try values.encode(attempts, forKey: .attempts)
        }
    }

    /// A start or an end of a request, in the order in which they happen.
    ///
    /// Downloads start in the order of ``Download/priorityLevel``, and those of one level in the order in which they
    /// were added. One that must wait is passed by the next: for its time, an unmetered network, a free place of its
    /// host, or another download of the same URL to the same destination. A download that starts again after a pause
    /// or a failure keeps its place in that order. Ends come in the order in which the requests end. For one download
    /// each end follows its start; the state is stored after the event.
    public enum Event: Sendable, Hashable {
        /// The request of the download starts.
        case started(UUID)
        /// Its request has ended; with the new state, such as ``State/finished(_:)``, or ``State/waiting`` if the
        /// queue was paused.
        case ended(UUID, State)
    }

    /// The stored form of a policy for existing files.
    private enum StoredPolicy: String, Sendable, Hashable, Codable {
        case overwrite, fail, rename, keep

        init(_ policy: DownloadPlan.ExistingFile) {
            self =
                switch policy {
                case .overwrite: .overwrite
                case .fail: .fail
                case .rename: .rename
                case .keep: .keep
                }
        }

        var value: DownloadPlan.ExistingFile {
            switch self {
            case .overwrite: .overwrite
            case .fail: .fail
            case .rename: .rename
            case .keep: .keep
            }
        }
    }

    /// The state of a download.
    public enum State: Sendable, Hashable, Codable {
        /// Waits for its turn, its time, or its network.
        case waiting
        /// A request is in progress; stored as ``waiting``.
        case running
        /// Waits for ``DownloadQueue/resume(_:)``.
        case paused
        /// The file is complete; see ``Entry/file``.
        case finished(URL)
        /// The download failed with this error, as text without secrets; see ``Entry/failure`` and
        /// ``DownloadQueue/retry(_:)``.
        case failed(String)

        var isOver: Bool {
            switch self {
            case .finished, .failed: true
            case .waiting, .running, .paused: false
            }
        }
    }

    /// A download of the queue and its state.
    public struct Entry: Sendable, Hashable, Identifiable {
        /// Identifies the download, also after a restart.
        public let id: UUID
        /// The download.
        public internal(set) var download: Download
        /// Its state.
        public internal(set) var state: State
        /// Its progress since this process started it.
        public internal(set) var progress = TransferProgress()
        /// The finished file with its size and digests; `nil` in other states, and for a file of an earlier version of
        /// the package.
        ///
        /// Of a file that another process has finished and not recorded, only URL and size are known.
        public internal(set) var file: DownloadedFile?
        /// The error of the state ``State/failed(_:)``; `nil` in other states.
        public internal(set) var failure: Failure?
        /// The part file of the latest request that has received bytes.
        var part: PartIdentity?
        /// The position in the order in which downloads were added.
        let sequence: Int64
    }

    /// The limits of a queue.
    public struct Limits: Sendable, Hashable {
        /// The maximum number of downloads in progress, at least 1 (default 4).
        public var total: Int
        /// The maximum number of downloads in progress from one host, at least 1 (default 2).
        public var perHost: Int
        /// The bandwidth of all downloads together, in bytes per second, at least 1 (default `nil`: no limit).
        public var bytesPerSecond: Int64?

        /// Creates limits; a queue refuses numbers below 1 with ``RequestError/Code/invalidConfiguration``.
        public init(total: Int = 4, perHost: Int = 2, bytesPerSecond: Int64? = nil) {
            self.total = total
            self.perHost = perHost
            self.bytesPerSecond = bytesPerSecond
        }
    }
}

extension DownloadQueue.Limits {
    /// The error for a limit below 1; `nil` if there is none.
    var fault: RequestError? {
        let limits = [
            ("total", Int64(total)), ("perHost", Int64(perHost)),
            ("bytesPerSecond", bytesPerSecond ?? 1),
        ]
        guard let (name, value) = limits.first(where: { $0.1 < 1 }) else { return nil }
        let none = name == "bytesPerSecond" ? ", or nil for no limit" : ""
        return RequestError(
            .invalidConfiguration, stage: .build,
            "limits.\(name) of the download queue is \(value). Set at least 1\(none).")
    }

    func check() throws(RequestError) { if let fault { throw fault } }
}

extension RequestPriority {
    /// The priority of a request for a level of ``DownloadQueue/Download/priorityLevel``.
    init(level: Int) { self = level < 0 ? .low : level > 0 ? .high : .normal }
}
