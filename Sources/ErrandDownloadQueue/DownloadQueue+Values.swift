public import ErrandHTTP
public import Foundation

extension DownloadQueue {
    /// One download of a queue.
    ///
    /// Headers and credentials are those of the agent's configuration, so that the database contains no secrets, unless
    /// the URL does.
    public struct Download: Sendable, Hashable, Codable {
        /// The URL.
        public var url: String
        /// The finished file, or an existing folder: then the response names the file.
        public var destination: URL
        /// The expected SHA-256 in hexadecimal digits (default `nil`: none).
        public var sha256: String?
        /// The number of requests that receive the file in parallel (default 1).
        public var segments: Int
        /// Downloads with a higher priority start first (default normal).
        public var priority: RequestPriority {
            get { RequestPriority(rawValue: priorityValue) ?? .normal }
            set { priorityValue = newValue.rawValue }
        }
        /// The time before which the download does not start (default `nil`: none).
        public var notBefore: Date?
        /// Whether the download runs only while the network is known to be neither expensive nor constrained (default
        /// false).
        ///
        /// Needs `configuration.reachability`: an unknown status is not unmetered. A download that runs is paused when the
        /// status changes.
        public var requiresUnmeteredNetwork: Bool
        private var priorityValue: Int

        /// Creates a download.
        public init(
            _ url: String, to destination: URL, sha256: String? = nil, segments: Int = 1,
            priority: RequestPriority = .normal, notBefore: Date? = nil,
            requiresUnmeteredNetwork: Bool = false
        ) {
            self.url = url
            self.destination = destination
            self.sha256 = sha256
            self.segments = segments
            priorityValue = priority.rawValue
            self.notBefore = notBefore
            self.requiresUnmeteredNetwork = requiresUnmeteredNetwork
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
