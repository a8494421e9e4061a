public import ErrandCore
public import ErrandSystem
public import ErrandTransport
import Synchronization

/// Writes the requests of an agent to an HTTP archive (HAR 1.2), which browsers' developer tools open.
///
/// The recorder is in front of a transport, so that it records every attempt, redirect and refresh of credentials.
/// As an interceptor it also records the responses that come from the cache. For example:
///
///     let recorder = try HARRecorder(writingTo: URL(fileURLWithPath: "session.har"))
///     configuration.interceptors.append(recorder)
///     let agent = RequestAgent(
///         configuration: configuration, transport: recorder.transport(over: CurlTransport()))
///     …
///     try await recorder.finish()
///
/// Secrets are replaced by ``RedactionRules``. The file is a complete document after each entry, also if the process
/// is killed, and only its owner can read it. Entries are in the order in which the requests ended.
///
/// Memory: bodies up to ``Options/maximumBodyBytes`` are kept until their entry is written, and at most
/// ``Options/maximumMemory`` of all bodies. The entry's comment states which bytes are missing. A WebSocket's entry is
/// written when the connection ends, with its latest messages: up to 10,000, of ``Options/maximumBodyBytes`` together.
///
/// A failure to write does not fail a request: ``finish()`` throws it.
public final class HARRecorder: Interceptor {
    /// The limits and the rules of a recording.
    public struct Options: Sendable {
        /// Which values are replaced.
        ///
        /// Default ``RedactionRules/standard``.
        public var redaction = RedactionRules.standard
        /// The largest body that is written, in bytes.
        ///
        /// Default 1 MiB.
        public var maximumBodyBytes = 1 << 20
        /// The memory for all bodies that are not written yet, in bytes.
        ///
        /// Default 32 MiB.
        public var maximumMemory = 32 << 20

        /// Creates options with the default values.
        public init() {}
    }

    /// The file.
    public let file: URL
    private let writer: MessageWriter
    private let memory: RecordingMemory
    private let queue = DispatchQueue(label: "errand.har")
    private let state: Mutex<State>

    private struct State {
        var archive: HARFile?
        var failure: RequestError?
        var lost = 0
        var isFinished = false
    }

    /// Creates the file, and replaces an existing one.
    ///
    /// - Throws: ``RequestError/Code/fileFailed`` if the file cannot be created.
    public convenience init(
        writingTo file: URL, options: Options = Options()
    ) throws(RequestError) {
        try self.init(file, entries: [], options: options)
    }

    package init(
        _ file: URL, entries: [HAR.Entry], options: Options
    ) throws(RequestError) {
        self.file = file
        writer = MessageWriter(
            rules: options.redaction, maximumBodyBytes: options.maximumBodyBytes)
        memory = RecordingMemory(limit: options.maximumMemory)
        state = Mutex(State(archive: try HARFile(file, entries: entries)))
    }

    /// A transport that records the transfers of another one.
    public func transport(over transport: any Transport) -> any Transport {
        self.transport(over: transport) { _ in }
    }

    /// - Parameter onEntry: Called with each entry of the transport when it has been written.
    package func transport(
        over transport: any Transport, onEntry: @escaping @Sendable (HAR.Entry) -> Void
    ) -> any Transport {
        let (queue, writer, memory) = (queue, writer, memory)
        return RecordingTransport(
            transport, limit: writer.maximumBodyBytes, memory: memory
        ) { [self] transfer in
            queue.async { [self] in
                let entry = writer.entry(transfer)
                append(entry)
                onEntry(entry)
                memory.release(
                    transfer.body.bytes.count + (transfer.streamedBody?.bytes.count ?? 0)
                        + (transfer.conversation?.bytes ?? 0))
            }
        }
    }

    /// Records a response that comes from the store.
    public func intercept(
        _ request: TransportRequest, next: TransportRequest.Next
    ) async throws -> Response {
        let started = Date()
        let response = try await next(request)
        if response.isFromCache {
            queue.async { [self] in append(writer.entry(request, response, started: started)) }
        }
        return response
    }

    /// Waits until every request that has ended is in the file.
    ///
    /// - Throws: ``RequestError/Code/fileFailed`` with the first failure to write, and the number of entries that
    ///   are missing.
    public func flush() async throws(RequestError) {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume() }
        }
        if let failure = failure { throw failure }
    }

    /// Waits until every request that has ended is in the file, and closes it.
    ///
    /// Later requests are not recorded. A second call has no effect.
    ///
    /// - Throws: ``RequestError/Code/fileFailed`` with the first failure to write, and the number of entries that
    ///   are missing.
    public func finish() async throws(RequestError) {
        await withCheckedContinuation { continuation in
            queue.async { [self] in
                close()
                continuation.resume()
            }
        }
        if let failure = failure { throw failure }
    }

    private func close() {
        state.withLock { state in
            state.isFinished = true
            guard let archive = state.archive else { return }
            do {
                state.archive = nil
                try archive.close()
            } catch {
                state.failure = state.failure ?? HARFile.failure(file, error)
            }
        }
    }

    private func append(_ entry: HAR.Entry) {
        state.withLock { state in
            guard !state.isFinished else { return }
            do {
                try state.archive?.append(entry)
            } catch {
                state.lost += 1
                state.failure = state.failure ?? HARFile.failure(file, error)
            }
        }
    }

    private var failure: RequestError? {
        state.withLock { state in
            guard var failure = state.failure else { return nil }
            if state.lost > 0 {
                failure.message +=
                    " \(state.lost) entries are missing in it. Free space on the disk."
            }
            return failure
        }
    }
}
