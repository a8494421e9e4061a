import Errand
import ErrandCore
import ErrandHTTP
import ErrandSystem
import HTTPTypes
import Synchronization

/// The settings of an upload, read from its endpoint when it starts.
struct UploadPlan: Sendable {
    var file: URL
    var metadata: [String: String]
    var pieceSize: Int64?
    var checksum: ResumableUploadRequest.Checksum
    var startsOver: Bool
    var bytesPerSecond: Int64?
    var journal: URL?
}

/// Performs an upload as the interceptor of its request: each request of the protocol passes the steps
/// inside interceptors, such as retry, credentials and cookies.
final class UploadOperation: Interceptor {
    enum Kind: Sendable { case upload, discard }

    private let kind: Kind
    private let plan: UploadPlan
    private let result = Mutex<UploadedFile?>(nil)
    private let wasDiscarded = Mutex(false)

    init(_ kind: Kind, _ plan: UploadPlan) {
        self.kind = kind
        self.plan = plan
    }

    /// The result of the latest run; `nil` after a failure.
    var output: UploadedFile? { result.withLock { $0 } }
    /// Whether the server has confirmed the removal, or did not have the upload.
    var isDiscarded: Bool { wasDiscarded.withLock { $0 } }

    func intercept(
        _ request: TransportRequest, next: TransportRequest.Next
    ) async throws -> Response {
        result.withLock { $0 = nil }
        wasDiscarded.withLock { $0 = false }
        guard !next.description.isStreamed else {
            throw RequestError.invalidCombination(
                "\(next.description.endpoint) is an upload: its response cannot be streamed. Call send() "
                    + "or value().")
        }
        // Before the lock, which creates the folder of the journal.
        let source = try kind == .upload ? UploadSource(plan.file) : nil
        let location = plan.journal ?? UploadJournal.location(of: plan.file, endpoint: request.url)
        let journal = try UploadJournalFile(location)
        let messages = UploadMessages(
            base: request, metadata: try TusMetadata.encode(plan.metadata))
        guard let source else { return try await discard(journal, messages, request, next) }
        return try await UploadRun(
            plan: plan, messages: messages, journal: journal, source: source, next: next
        ).perform { file in self.result.withLock { $0 = file } }
    }

    private func discard(
        _ journal: UploadJournalFile, _ messages: UploadMessages, _ request: TransportRequest,
        _ next: TransportRequest.Next
    ) async throws(RequestError) -> Response {
        guard let remote = journal.read()?.remote else {
            journal.remove()
            return Response(status: .noContent, url: request.url)
        }
        var response: Response
        do throws(RequestError) {
            response = try await next(messages.request(for: .terminate(url: remote.url)))
            wasDiscarded.withLock { $0 = true }
        } catch {
            guard let status = error.status?.code, [404, 405, 410, 501].contains(status) else {
                throw error
            }
            // Gone, or the server has no termination: the journal is removed in both cases.
            if status == 404 || status == 410 { wasDiscarded.withLock { $0 = true } }
            response = Response(status: .noContent, url: request.url)
        }
        journal.remove()
        return response
    }
}

/// Builds the requests of the protocol from the request of the endpoint.
struct UploadMessages: Sendable {
    let base: TransportRequest
    /// The value of `Upload-Metadata`.
    let metadata: String?

    func request(
        for message: TusRequest, body: HTTPBody? = nil, checksum: String? = nil
    ) throws(RequestError) -> TransportRequest {
        var request = base
        request.body = body
        request.headers[.contentType] = nil
        request.headers[tus: "Tus-Resumable"] = "1.0.0"
        switch message {
        case .options:
            request.method = .options
            request.headers[tus: "Tus-Resumable"] = nil
        case .create(let length):
            request.method = .post
            request.body = .data(Data(), contentType: nil)
            request.headers[tus: "Upload-Length"] = String(length)
            request.headers[tus: "Upload-Metadata"] = metadata
        case .offset(let url):
            request.method = .head
            request.url = try HTTPURL(parsing: url)
        case .append(let url, let piece):
            request.method = .patch
            request.url = try HTTPURL(parsing: url)
            request.headers[.contentType] = "application/offset+octet-stream"
            request.headers[tus: "Upload-Offset"] = String(piece.offset)
            request.headers[tus: "Upload-Checksum"] = checksum
        case .terminate(let url):
            request.method = .delete
            request.url = try HTTPURL(parsing: url)
        }
        // The agent keeps it for idempotent methods only.
        request.options.mayReplay = true
        return request
    }
}

/// One run of an upload: executes the decisions of ``TusUploadState``.
private struct UploadRun {
    let plan: UploadPlan
    let messages: UploadMessages
    let journal: UploadJournalFile
    let source: UploadSource
    let next: TransportRequest.Next

    private var clock: any RequestClock { next.run?.clock ?? SystemClock() }

    private var retry: RetryPolicy {
        next.description.retryPolicy ?? next.run?.retryPolicy ?? .none
    }

    func perform(_ deliver: (UploadedFile) -> Void) async throws(RequestError) -> Response {
        let start = clock.uptime
        var state = TusUploadState(
            TusUploadState.Plan(
                length: source.identity.size, pieceSize: plan.pieceSize, checksum: plan.checksum,
                startsOver: plan.startsOver, retry: retry))
        let saved = journal.read()
        var decision = state.start(
            saved?.remote, isChanged: saved.map { !$0.belongs(to: entry($0.remote)) } ?? false)
        let rate = plan.bytesPerSecond.map { UploadRate(bytesPerSecond: $0, clock: clock) }
        var last = Response(status: .noContent, url: messages.base.url)
        next.run?.progress.continueUpload(at: 0, of: source.identity.size)
        while true {
            if case .finish = decision.operation, Task.isCancelled {
                // The task ends as cancelled: the next run learns from the server that the upload is complete.
            } else {
                try change(decision.journal)
            }
            switch decision.operation {
            case .send(let message):
                reportPosition(message, state)
                let result = await send(message, rate)
                if case .success(let response) = result { last = response }
                decision = state.handle(event(for: result))
            case .pause(let failures, let retryAfter, let error):
                let event = await pause(failures, retryAfter, error)
                decision = state.handle(event)
            case .finish(let remote):
                // An upload that was already complete has sent no piece.
                next.run?.progress.continueUpload(
                    at: source.identity.size, of: source.identity.size)
                deliver(
                    UploadedFile(
                        url: try HTTPURL(parsing: remote.url), bytes: source.identity.size,
                        resumedOffset: state.resumedOffset, duration: clock.uptime - start,
                        expires: remote.expires))
                return last
            case .fail(let error):
                throw error
            }
        }
    }

    private func entry(_ remote: TusUploadState.Remote) -> UploadJournal {
        UploadJournal(
            endpoint: messages.base.url, file: source.identity,
            metadata: messages.metadata.map { SHA256.hex(Data($0.utf8)) }, remote: remote)
    }

    private func change(_ change: TusUploadState.JournalChange) throws(RequestError) {
        switch change {
        case .none: break
        case .write(let remote): try journal.write(entry(remote))
        case .remove: journal.remove()
        }
    }

    /// Progress counts from the offset of the upload, not from that of the piece.
    private func reportPosition(_ message: TusRequest, _ state: TusUploadState) {
        switch message {
        case .append(_, let piece):
            next.run?.progress.continueUpload(at: piece.offset, of: source.identity.size)
            if state.resumedOffset > 0, piece.offset == state.resumedOffset {
                next.run?.emit(.resumed(offset: piece.offset))
            }
        case .create: next.run?.progress.continueUpload(at: 0, of: source.identity.size)
        case .options, .offset, .terminate: break
        }
    }

    private func send(
        _ message: TusRequest, _ rate: UploadRate?
    ) async -> Result<Response, RequestError> {
        do throws(RequestError) {
            guard case .append(_, let piece) = message else {
                return .success(try await next(messages.request(for: message)))
            }
            try source.check()
            var checksum: String?
            if let algorithm = piece.algorithm {
                checksum = "\(algorithm) \(try await source.checksum(algorithm, of: piece))"
            }
            let body = HTTPBody.stream(length: piece.length, contentType: nil) { [source] in
                source.slice(of: piece, rate: rate)
            }
            return .success(
                try await next(messages.request(for: message, body: body, checksum: checksum)))
        } catch {
            return .failure(error)
        }
    }

    private func event(for result: Result<Response, RequestError>) -> TusUploadState.Event {
        switch result {
        case .success(let response):
            return .response(TusResponse(response, now: clock.now), nil)
        case .failure(let error):
            if error.code == .unacceptableStatus, let response = error.response {
                return .response(TusResponse(response, now: clock.now), error)
            }
            return .failure(
                error, isTransient: RetryDecision.isRetryable(error, policy: retry))
        }
    }

    private func pause(
        _ failures: Int, _ retryAfter: Duration?, _ error: RequestError
    ) async -> TusUploadState.Event {
        let delay = RetryDecision.delay(
            retry, attempt: failures, random: Double.random(in: 0...1))
        let longest = max(delay, retryAfter ?? .zero)
        next.run?.emit(.retrying(after: longest, error))
        do {
            try await clock.sleep(for: longest)
            return .pauseEnded
        } catch {
            return .failure(.cancelled, isTransient: false)
        }
    }
}
