public import ErrandHTTP
public import Foundation
public import HTTPTypes

extension DownloadQueue {
    /// One download of a queue.
    ///
    /// It is stored in the database as plain text. Credentials belong to an authenticator of the agent, and cookies
    /// to its cookie storage; headers with credentials are refused.
    public struct Download: Sendable, Hashable, Codable {
        /// The URL.
        public var url: String
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
        /// Downloads with a higher priority start first (default normal).
        public var priority: RequestPriority {
            get { RequestPriority(rawValue: priorityValue) ?? .normal }
            set { priorityValue = newValue.rawValue }
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
        private var priorityValue: Int
        private var digests: [StoredDigest]
        /// Missing in the databases of earlier versions.
        private var policy: StoredPolicy?

        /// Creates a download.
        public init(
            _ url: String, to destination: URL,
            existingFile: DownloadPlan.ExistingFile? = nil, headers: HTTPFields = [:],
            expectedDigests: [DownloadedFile.Digest] = [], segments: Int = 1,
            priority: RequestPriority = .normal, notBefore: Date? = nil,
            requiresUnmeteredNetwork: Bool = false
        ) {
            self.url = url
            self.destination = destination
            policy = existingFile.map(StoredPolicy.init)
            self.headers = headers
            digests = expectedDigests.map(StoredDigest.init)
            self.segments = segments
            priorityValue = priority.rawValue
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
        /// The file is complete.
        case finished(URL)
        /// The download failed with this error, without secrets; see ``DownloadQueue/retry(_:)``.
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
        /// The part file of the latest request that has received bytes.
        var part: PartIdentity?
        /// The position in the order in which downloads were added.
        let sequence: Int64
    }

    /// The limits of a queue.
    public struct Limits: Sendable, Hashable {
        /// The maximum number of downloads in progress (default 4).
        public var total: Int
        /// The maximum number of downloads in progress from one host (default 2).
        public var perHost: Int
        /// The bandwidth of all downloads together, in bytes per second (default `nil`: no limit).
        public var bytesPerSecond: Int64?

        /// Creates limits; numbers below 1 count as 1.
        public init(total: Int = 4, perHost: Int = 2, bytesPerSecond: Int64? = nil) {
            self.total = total
            self.perHost = perHost
            self.bytesPerSecond = bytesPerSecond
        }
    }
}
