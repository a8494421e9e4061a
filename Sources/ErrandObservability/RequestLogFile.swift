public import ErrandCore
public import ErrandSystem
package import ErrandTransport
import Synchronization

/// Writes one JSON object for each request to files of bounded size and number.
///
///     let log = try RequestLogFile(folder: logs)
///     configuration.eventListeners = [log]
///     …
///     print(try log.files())
///
/// It needs no package trait. Each line has the time, the level, the text of ``LoggingListener``'s line, and the same
/// attributes: no headers, no bodies, no values of the query. The first line of each file is a header.
///
/// A line is written at the end of its request, with one call, and is not kept in memory; after a crash at most the last
/// line is incomplete. When a file is full, the next one begins and the oldest is removed. The files are readable by
/// their owner only. Several processes can use one folder: each writes to files of its own, and the limits apply to all
/// files of the folder.
///
/// If a line cannot be written, for example because the disk is full, it is lost; requests go on. See ``problem``.
public final class RequestLogFile: RequestEventListener {
    /// The settings of a log.
    public struct Options: Sendable {
        /// The size of a file after which the next one begins, in bytes.
        ///
        /// Default 1 MiB; at least 4 KiB. The last line may exceed it.
        public var maximumFileBytes = 1 << 20
        /// The number of files that are kept; the oldest are removed.
        ///
        /// Default 5; at least 1.
        public var maximumFiles = 5
        /// Members of the first line of each file, such as the name and the version of the app.
        ///
        /// Default none. `log` and `time` are replaced.
        public var header: [String: String] = [:]
        /// The names of query parameters whose values are written.
        ///
        /// Default none.
        public var visibleQueryNames: Set<String> = []
        /// Further members of the line about a request, from the event of its end.
        ///
        /// Default none. Members with names of the log are replaced.
        public var members: @Sendable (RequestEvent) -> [String: String] = { _ in [:] }

        /// Creates options with the default values.
        public init() {}
    }

    private let options: Options
    private let urls: SanitizedURL
    private let now: @Sendable () -> Date
    private let core = RecordOwner()
    // Held while a line is written, which orders the lines. Only listeners' queues wait for it.
    private let rotation: Mutex<RotatingFiles>

    /// Creates a log; the first file is created with the first line.
    ///
    /// - Parameters:
    ///   - folder: The folder of the files, which is created if it is missing. Use a folder for logs only.
    ///   - options: The settings.
    /// - Throws: ``RequestError/Code/invalidConfiguration`` for a limit that is too small;
    ///   ``RequestError/Code/fileFailed`` if the folder cannot be created.
    public convenience init(folder: URL, options: Options = Options()) throws(RequestError) {
        try self.init(folder: folder, options: options, now: { Date() })
    }

    package init(
        folder: URL, options: Options, now: @escaping @Sendable () -> Date
    ) throws(RequestError) {
        guard options.maximumFileBytes >= 4096, options.maximumFiles >= 1 else {
            throw RequestError(
                .invalidConfiguration, stage: .build,
                "Options.maximumFileBytes is \(options.maximumFileBytes) and maximumFiles is \(options.maximumFiles). "
                    + "Set at least 4096 bytes and 1 file.")
        }
        self.options = options
        self.now = now
        urls = SanitizedURL(visibleQueryNames: options.visibleQueryNames)
        rotation = Mutex(
            try RotatingFiles(
                folder: folder, maximumFiles: options.maximumFiles,
                maximumBytes: options.maximumFileBytes))
    }

    deinit { rotation.withLock { $0.close() } }

    /// The files of the folder, the oldest first.
    ///
    /// - Throws: ``RequestError/Code/fileFailed`` if the folder cannot be read.
    public func files() throws(RequestError) -> [URL] {
        do {
            return try rotation.withLock { try $0.list() }
        } catch {
            throw RotatingFiles.error("The log files cannot be listed: \(error)", error)
        }
    }

    /// Removes all files of the folder that a log has written; the next line begins a new one.
    ///
    /// - Throws: ``RequestError/Code/fileFailed`` if a file cannot be removed.
    public func removeFiles() throws(RequestError) {
        do {
            try rotation.withLock { try $0.removeAll() }
        } catch {
            throw RotatingFiles.error("A log file cannot be removed: \(error)", error)
        }
    }

    /// The error because of which the last line was lost; `nil` if it was written.
    public var problem: RequestError? { rotation.withLock { $0.problem } }

    /// Writes the line about a request that has ended.
    public func handle(_ event: RequestEvent) {
        guard let record = event.metadata.state(of: core, as: SummaryRecord.self) else { return }
        let summary = record.summary.withLock { summary in
            summary.add(event)
            return summary
        }
        guard case .ended = event.kind else { return }
        var members = options.members(event)
        members.merge(summary.attributes(of: event, urls)) { $1 }
        members["time"] = Self.text(now())
        members["level"] = summary.level
        members["message"] = summary.line(event.endpoint)
        var header = options.header
        header["log"] = "errand"
        header["time"] = members["time"]
        let (line, head) = (LogLine(members).bytes, LogLine(header).bytes)
        rotation.withLock { $0.append(line, header: head, now()) }
    }

    private static func text(_ date: Date) -> String {
        date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
}

extension RequestLogFile: RequestInstrument {
    package func willStart(_ description: inout RequestDescription) {
        description.metadata.attach(SummaryRecord(), of: core)
    }

    package func willSend(
        _ request: inout TransportRequest, attempt: Int, of description: RequestDescription,
        _ configuration: Configuration, over transport: any Transport
    ) -> TransferObserver? {
        let record = description.metadata.state(of: core, as: SummaryRecord.self)
        let (method, url) = (request.method, request.url)
        record?.summary.withLock { $0.send(method, url, attempt: attempt) }
        return nil
    }
}

/// Identifies the log in the metadata of requests.
private final class RecordOwner: Sendable {}

/// The summary of one request.
private final class SummaryRecord: Sendable {
    let summary = Mutex(RequestSummary())
}
