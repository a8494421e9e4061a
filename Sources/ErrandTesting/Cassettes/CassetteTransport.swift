public import ErrandCore
public import ErrandRecording
public import ErrandSystem
public import ErrandTransport
import Synchronization

/// A transport that replays recorded responses, and records those that are missing.
///
/// A cassette is an HTTP archive (HAR 1.2). One that a browser has exported replays too. For example, a test that
/// sends its requests once, and needs no network afterwards:
///
///     let transport = try CassetteTransport("login.har", mode: .replayOrRecord(over: CurlTransport()))
///     let agent = RequestAgent(transport: transport)
///     …
///     try await transport.finish()
///     #expect(transport.unusedRecordings.isEmpty)
///
/// Secrets are replaced when a cassette is written, and in requests before they are compared, so that a cassette can
/// be committed. A value of a response that the test needs, such as a token with a certain form, is a placeholder:
/// see ``Options/placeholders``.
///
/// A request without a recording ends at once with ``RequestError/Code/unsupported``, which no ``RetryPolicy``
/// retries. The error names the nearest recording and what differs, and the request is listed in ``failures``.
///
/// Errors of the network are recorded, and replayed with their codes, and interim responses are replayed before their
/// response. Contents of files in multipart forms are recorded, and not compared. Response bodies above 64 MiB are not
/// recorded: the error of ``finish()`` names the requests.
public final class CassetteTransport: ConnectionReporting {
    /// Whether responses are replayed or recorded.
    public enum Mode: Sendable {
        /// Replays the recordings of an existing cassette; nothing is sent.
        case replay
        /// Sends every request, and replaces the cassette.
        case record(over: any Transport)
        /// Replays the recordings of the cassette, if it exists; sends other requests, and adds them.
        case replayOrRecord(over: any Transport)

        fileprivate var transport: (any Transport)? {
            switch self {
            case .replay: nil
            case .record(let transport), .replayOrRecord(let transport): transport
            }
        }
    }

    /// How requests are compared and written.
    public struct Options: Sendable {
        /// How the recording for a request is found.
        public var matching = CassetteMatching()
        /// Which values are replaced in the cassette.
        ///
        /// Default ``RedactionRules/standard``.
        public var redaction = RedactionRules.standard
        /// Values that stand in the cassette as `{{name}}`, by name.
        ///
        /// They differ from run to run, or from machine to machine, such as a date, a port or a user's name. A value in
        /// a URL, a header or a text body is written as `{{name}}`; replayed responses contain the present value.
        /// Default none.
        public var placeholders: [String: String] = [:]

        /// Creates options with the default values.
        public init() {}
    }

    /// The transport's name in events and errors.
    public let name = "cassette"
    /// The file.
    public let file: URL
    /// The reports of the transport that records; none if it does not report connections.
    public let connectionReports: ConnectionReports
    private let writer: MessageWriter
    private let placeholders: [String: String]
    private let isReplaying: Bool
    private let recorder: HARRecorder?
    private let network: (any Transport)?
    /// Delivers replayed responses.
    private let replayed = ScriptedTransport(name: "cassette")
    private let state: Mutex<State>

    private struct State {
        var cassette: CassetteState
        var failures: [String] = []
        /// The requests whose responses were recorded without their bodies.
        var incomplete: [String] = []
    }

    private static let maximumBodyBytes = 64 << 20
    private static let maximumFailures = 1000

    /// Opens a cassette.
    ///
    /// - Parameters:
    ///   - path: The file. A relative path begins at the folder of the calling source file. A recording creates
    ///     missing folders.
    ///   - mode: Whether responses are replayed or recorded.
    ///   - options: How requests are compared and written.
    ///   - sourceFile: The calling source file.
    /// - Throws: ``RequestError/Code/fileFailed`` if the file cannot be read or written, or is not an archive.
    public convenience init(
        _ path: String, mode: Mode, options: Options = Options(), sourceFile: String = #filePath
    ) throws(RequestError) {
        let folder = URL(fileURLWithPath: sourceFile).deletingLastPathComponent()
        try self.init(
            URL(fileURLWithPath: path, relativeTo: folder).absoluteURL, mode: mode,
            options: options)
    }

    /// Opens a cassette.
    ///
    /// - Throws: ``RequestError/Code/fileFailed`` if the file cannot be read or written, or is not an archive.
    public init(
        _ file: URL, mode: Mode, options: Options = Options()
    ) throws(RequestError) {
        let entries: [HAR.Entry]
        switch mode {
        case .record: entries = []
        case .replayOrRecord where !FileManager.default.fileExists(atPath: file.path): entries = []
        case .replay, .replayOrRecord: entries = try HAR(contentsOf: file).log.entries
        }
        var settings = HARRecorder.Options()
        settings.redaction = options.redaction
        settings.redaction.substitutions = options.placeholders.filter { !$0.value.isEmpty }
            .flatMap { name, value in
                Self.spellings(value).map { (value: $0, text: "{{\(name)}}") }
            }
            .sorted { $0.value.utf8.count > $1.value.utf8.count }
        settings.maximumBodyBytes = Self.maximumBodyBytes
        settings.maximumMemory = 4 * Self.maximumBodyBytes
        self.file = file
        writer = MessageWriter(rules: settings.redaction, maximumBodyBytes: Self.maximumBodyBytes)
        placeholders = options.placeholders
        state = Mutex(State(cassette: CassetteState(entries, options.matching)))
        network = mode.transport
        connectionReports =
            network.map(ConnectionReports.of) ?? ConnectionReports(transport: "cassette")
        if network != nil {
            // An error is that of the recorder, which creates the file.
            try? FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        }
        recorder =
            network == nil ? nil : try HARRecorder(file, entries: entries, options: settings)
        if case .record = mode { isReplaying = false } else { isReplaying = true }
    }

    /// The value, and its form in URLs if that differs.
    private static func spellings(_ value: String) -> Set<String> {
        var encoded: [UInt8] = []
        PercentEncoding.append(
            value.utf8, keeping: ByteSet.alphanumeric.union("-._~"), to: &encoded)
        return [value, String(decoding: encoded, as: UTF8.self)]
    }

    // MARK: - Results

    /// The recordings that no request has used, as method and URL without query.
    public var unusedRecordings: [String] { state.withLock { $0.cassette.unused } }

    /// The first 1,000 requests without a recording, as method and URL without query.
    public var failures: [String] { state.withLock { $0.failures } }

    /// Waits until every request that has ended is in the cassette, and closes it.
    ///
    /// Has no effect in the mode ``Mode/replay``.
    ///
    /// - Throws: ``RequestError/Code/fileFailed`` if something could not be recorded.
    public func finish() async throws(RequestError) {
        try await recorder?.finish()
        let incomplete = state.withLock { $0.incomplete }
        guard incomplete.isEmpty else {
            throw RequestError(
                .fileFailed, stage: .transport,
                "Response bodies of these requests are not in \(file.lastPathComponent): "
                    + incomplete.joined(separator: ", ")
                    + ". They are too large, or secrets in them cannot be recognized. Script these "
                    + "responses with ScriptedTransport.")
        }
    }

    // MARK: - Transport

    /// Checks whether the transport that records can perform a request.
    ///
    /// A WebSocket is refused with ``RequestError/Code/unsupported``: a cassette has responses, and no conversations.
    public func check(_ request: TransportRequest) throws(RequestError) {
        guard !request.options.isUpgrade else {
            throw RequestError(
                .unsupported, stage: .transport,
                "A cassette has no WebSockets. Play \(request.url.redacted) with ScriptedResponse.webSocket(_:)."
            )
        }
        try network?.check(request)
    }

    /// Starts a transfer that replays a response or records one.
    public func start(
        _ request: TransportRequest, receiver: any TransferReceiver
    ) -> any Transfer {
        guard isReplaying, case .stream? = request.body?.storage else {
            return perform(request, receiver)
        }
        // A stream is read before it is compared, and then sent from memory.
        let transfer = DeferredTransfer(receiver)
        let reading = Task { [self] in
            do {
                var complete = request
                complete.body?.storage = .data(try await request.collectedBody())
                transfer.begin { perform(complete, $0) }
            } catch {
                let error = error as? RequestError ?? .cancelled
                transfer.begin { replayed.start(request, response: .failure(error), receiver: $0) }
            }
        }
        transfer.onCancel { reading.cancel() }
        return transfer
    }

    /// Ends all transfers, current and later, with ``RequestError/Code/agentShutDown``.
    public func shutDown() {
        replayed.shutDown()
        network?.shutDown()
    }

    private func perform(
        _ request: TransportRequest, _ receiver: any TransferReceiver
    ) -> any Transfer {
        guard isReplaying else { return record(request, receiver) }
        let described = writer.request(request, streamedBody: nil, httpVersion: nil)
        switch state.withLock({ $0.cassette.take(described) }) {
        case .recording(let entry):
            return replayed.start(
                request, response: ScriptedResponse(entry, placeholders), receiver: receiver)
        case .none(let hint):
            if recorder != nil { return record(request, receiver) }
            return replayed.start(
                request, response: .failure(unmatched(request, hint)), receiver: receiver)
        }
    }

    private func record(
        _ request: TransportRequest, _ receiver: any TransferReceiver
    ) -> any Transfer {
        guard let recorder, let network else {
            return replayed.start(
                request, response: .failure(unmatched(request, "")), receiver: receiver)
        }
        return recorder.transport(over: network) { [self] in added($0) }
            .start(request, receiver: receiver)
    }

    private func added(_ entry: HAR.Entry) {
        let content = entry.response.content
        state.withLock { state in
            state.cassette.add(entry)
            if content.text == nil, content.size > 0 {
                state.incomplete.append(CassetteState.name(entry))
            }
        }
    }

    private func unmatched(_ request: TransportRequest, _ hint: String) -> RequestError {
        let name = "\(request.method) \(request.url.redacted)"
        state.withLock { state in
            if state.failures.count < Self.maximumFailures { state.failures.append(name) }
        }
        return RequestError(
            .unsupported, stage: .transport,
            "\(file.lastPathComponent) has no recording for \(name). \(hint)")
    }
}
