import ErrandHTTP
import ErrandSystem

/// The state of one run of a resumable upload (tus 1.0); pure.
///
/// Each event returns one decision: a change of the journal, then the next operation. The run ends with
/// the first ``Operation/finish(_:)`` or ``Operation/fail(_:)``; later events do not change it.
struct TusUploadState: Sendable {
    /// The settings of a run.
    struct Plan: Sendable, Equatable {
        /// The size of the file.
        var length: Int64
        /// The largest number of bytes in one request; `nil` sends the rest of the file.
        var pieceSize: Int64?
        var checksum = ResumableUploadRequest.Checksum.none
        var startsOver = true
        var retry = RetryPolicy.none
    }

    /// An upload on the server, as the journal records it.
    struct Remote: Sendable, Hashable, Codable {
        var url: String
        /// The number of bytes that the server has confirmed.
        var offset: Int64 = 0
        /// The end of the last piece of which a byte may have been sent.
        var sent: Int64 = 0
        /// `Upload-Expires`, for the result; the server decides whether the upload still exists.
        var expires: Date?
        /// The checksum algorithm of the server; `nil` if it has listed none that is supported.
        var algorithm: String?
        /// Whether the server has announced the extension `termination`.
        var canTerminate = false
    }

    enum Event: Sendable {
        /// A response; the error is that of a refused status.
        case response(TusResponse, RequestError?)
        /// A failure without a response that counts.
        case failure(RequestError, isTransient: Bool)
        /// The end of a pause.
        case pauseEnded
    }

    enum Operation: Sendable {
        case send(TusRequest)
        /// Waits after this number of consecutive failures, and at least for the server's `Retry-After`.
        case pause(failures: Int, retryAfter: Duration?, RequestError)
        case finish(Remote)
        case fail(RequestError)
    }

    enum JournalChange: Sendable, Equatable {
        case none
        case write(Remote)
        case remove
    }

    struct Decision: Sendable {
        var journal = JournalChange.none
        var operation: Operation
    }

    private enum Step: Sendable, Equatable {
        case idle
        case removingOld
        case discovering
        case creating
        case locating
        case sending(TusRequest.Piece)
        case pausing
        case ended
    }

    /// The number of consecutive disagreements about the offset after which the run fails.
    static let maximumConflicts = 3

    let plan: Plan
    private(set) var remote: Remote?
    /// The offset at which this run began to send.
    private(set) var resumedOffset: Int64 = 0
    private var step = Step.idle
    /// The greatest offset that the server has confirmed in this run.
    private var greatestOffset: Int64 = 0
    /// The failures and conflicts since ``greatestOffset`` last increased.
    private var failures = 0
    private var conflicts = 0
    private var mismatches = 0
    private var hasLocated = false
    private var hasStartedOver = false
    private var algorithm: String?
    private var canTerminate = false
    private var hasDiscovered = false
    private var end: Operation?

    init(_ plan: Plan) { self.plan = plan }

    // MARK: - Events

    /// Starts the run.
    ///
    /// - Parameters:
    ///   - remote: The upload of the journal; `nil` without one.
    ///   - isChanged: Whether the journal is that of another file, metadata or creating URL.
    mutating func start(_ remote: Remote?, isChanged: Bool) -> Decision {
        guard step == .idle else { return Decision(operation: repeatedEnd) }
        guard let remote else { return discover() }
        self.remote = remote
        if isChanged {
            guard plan.startsOver else { return fail(Self.changed) }
            guard remote.canTerminate else { return forget() }
            step = .removingOld
            return Decision(operation: .send(.terminate(url: remote.url)))
        }
        if plan.checksum == .required, remote.algorithm == nil { return fail(Self.noChecksum) }
        return locate()
    }

    mutating func handle(_ event: Event) -> Decision {
        switch (step, event) {
        case (.ended, _), (.idle, _): return Decision(operation: repeatedEnd)
        case (.pausing, .pauseEnded): return locate()
        case (.pausing, .failure(let error, _)): return fail(error)
        case (_, .failure(let error, _)) where error.isCancellation: return fail(error)
        case (.removingOld, _): return forget()
        case (.sending, .failure(let error, let isTransient)):
            return isTransient ? retry(error, after: nil) : fail(error)
        case (_, .failure(let error, _)): return fail(error)
        case (.discovering, .response(let response, let error)): return discovered(response, error)
        case (.creating, .response(let response, let error)): return created(response, error)
        case (.locating, .response(let response, let error)): return located(response, error)
        case (.sending(let piece), .response(let response, let error)):
            return sent(piece, response, error)
        case (_, .pauseEnded), (.pausing, .response): return fail(Self.outOfOrder)
        }
    }

    // MARK: - Creation

    private mutating func discover() -> Decision {
        step = .discovering
        return Decision(operation: .send(.options))
    }

    private mutating func discovered(_ response: TusResponse, _ error: RequestError?) -> Decision {
        hasDiscovered = true
        if response.isSuccess {
            if let refusal = refusal(of: response) { return fail(refusal) }
            algorithm = UploadChecksum.choose(from: response.algorithms)
            canTerminate = response.extensions.contains { $0 == "termination" }
        } else if ![400, 403, 404, 405, 406, 501].contains(response.status) {
            // OPTIONS is optional in tus 1.0, and some gateways refuse it; other errors end the run.
            return fail(error ?? Self.status(response))
        }
        if plan.checksum == .required, algorithm == nil { return fail(Self.noChecksum) }
        return create()
    }

    /// The reason why the server cannot take the upload, by its response to OPTIONS.
    private func refusal(of response: TusResponse) -> RequestError? {
        if let maximum = response.maximumSize, maximum < plan.length {
            return RequestError(
                .bodyTooLarge, stage: .validate,
                "The file has \(plan.length) bytes, the server accepts \(maximum). Nothing was "
                    + "uploaded. Send a smaller file.")
        }
        guard !response.versions.isEmpty else { return nil }
        guard response.versions.contains(where: { $0 == "1.0.0" }) else {
            return Self.wrongVersion(response)
        }
        let canCreate = response.extensions.contains { $0 == "creation" }
        guard response.extensions.isEmpty || canCreate else {
            return RequestError(
                .unsupported, stage: .validate,
                "The server does not support the tus extension creation. Nothing was uploaded.")
        }
        return nil
    }

    private mutating func create() -> Decision {
        step = .creating
        return Decision(operation: .send(.create(length: plan.length)))
    }

    /// Begins with a new upload.
    private mutating func begin() -> Decision { hasDiscovered ? create() : discover() }

    private mutating func created(_ response: TusResponse, _ error: RequestError?) -> Decision {
        guard response.isSuccess else {
            let refusal = refused(response, error)
            guard isPostponed(response, error) else { return fail(refusal) }
            return retry(refusal, after: response.retryAfter)
        }
        guard let url = response.location else {
            return fail(
                RequestError(
                    .badServerResponse, stage: .validate,
                    "The server created an upload without a usable Location: absolute or relative, "
                        + "http or https, and https if the response came over https."))
        }
        remote = Remote(
            url: url, expires: response.expires, algorithm: algorithm, canTerminate: canTerminate)
        hasLocated = true
        failures = 0
        return proceed()
    }

    /// Whether the server asks for the creation to be sent again later, so that it has created nothing.
    ///
    /// After several attempts of the retry step, an earlier one may have created an upload.
    private func isPostponed(_ response: TusResponse, _ error: RequestError?) -> Bool {
        [429, 503].contains(response.status) && response.retryAfter != nil
            && plan.retry.retryableStatusCodes.contains(response.status)
            && (error?.attempts ?? 1) <= 1
    }

    // MARK: - Sending

    private mutating func locate() -> Decision {
        guard let remote else { return begin() }
        step = .locating
        return Decision(operation: .send(.offset(url: remote.url)))
    }

    private mutating func located(_ response: TusResponse, _ error: RequestError?) -> Decision {
        guard response.isSuccess else {
            switch response.status {
            case 404, 410: return gone(error)
            case 423: return retry(Self.locked(error), after: response.retryAfter)
            default: return fail(refused(response, error))
            }
        }
        guard let offset = response.offset else {
            return fail(
                RequestError(
                    .badServerResponse, stage: .validate,
                    "The server's response to HEAD has no valid Upload-Offset."))
        }
        if let length = response.length, length != plan.length {
            return fail(
                Self.contradiction(
                    "The upload on the server has \(length) bytes, the file \(plan.length)."))
        }
        guard offset <= min(plan.length, remote?.sent ?? 0) else {
            return fail(
                Self.contradiction(
                    "The server claims to have \(offset) bytes, of which \(remote?.sent ?? 0) were sent."
                ))
        }
        if !hasLocated {
            hasLocated = true
            resumedOffset = offset
            greatestOffset = offset
        }
        return accept(offset, expires: response.expires)
    }

    private mutating func sent(
        _ piece: TusRequest.Piece, _ response: TusResponse, _ error: RequestError?
    ) -> Decision {
        if response.isSuccess {
            guard let offset = response.offset else { return conflict(error) }
            guard offset <= piece.end else {
                return fail(
                    Self.contradiction(
                        "The server claims to have \(offset) bytes, of which \(piece.end) were sent."
                    ))
            }
            guard offset > piece.offset else { return conflict(error) }
            return accept(offset, expires: response.expires)
        }
        switch response.status {
        case 404, 410: return gone(error)
        case 409: return conflict(error)
        case 423: return retry(Self.locked(error), after: response.retryAfter)
        case 460: return mismatch(response)
        case let status where plan.retry.retryableStatusCodes.contains(status):
            return retry(error ?? Self.status(response), after: response.retryAfter)
        default: return fail(refused(response, error))
        }
    }

    private mutating func accept(_ offset: Int64, expires: Date?) -> Decision {
        if offset > greatestOffset {
            greatestOffset = offset
            (failures, conflicts, mismatches) = (0, 0, 0)
        }
        remote?.offset = offset
        if let expires { remote?.expires = expires }
        return proceed()
    }

    /// Sends the next piece, or finishes after the last one.
    private mutating func proceed() -> Decision {
        guard var remote else { return fail(Self.outOfOrder) }
        let rest = plan.length - remote.offset
        guard rest > 0 else {
            step = .ended
            end = .finish(remote)
            return Decision(journal: .remove, operation: .finish(remote))
        }
        let piece = TusRequest.Piece(
            offset: remote.offset, length: min(rest, max(1, plan.pieceSize ?? rest)),
            algorithm: plan.checksum == .none ? nil : remote.algorithm)
        // Written before the bytes are sent: a later process knows how much the server can have.
        remote.sent = max(remote.sent, piece.end)
        self.remote = remote
        step = .sending(piece)
        return Decision(
            journal: .write(remote), operation: .send(.append(url: remote.url, piece)))
    }

    // MARK: - Failures

    /// The server's offset differs from the one that was sent, or did not increase.
    private mutating func conflict(_ error: RequestError?) -> Decision {
        conflicts += 1
        guard conflicts <= Self.maximumConflicts else {
            return fail(
                Self.contradiction(
                    "The server does not accept the bytes at the offset that it names.", error))
        }
        return locate()
    }

    private mutating func mismatch(_ response: TusResponse) -> Decision {
        let error = RequestError(
            .digestMismatch, stage: .validate,
            "The server received other bytes than were read from the file: the checksum of a piece "
                + "differs (status 460). The piece was not added. Start the upload again to resume it."
        )
        mismatches += 1
        guard mismatches < max(2, plan.retry.maximumAttempts) else { return fail(error) }
        return pause(mismatches, response.retryAfter, error)
    }

    private mutating func retry(_ error: RequestError, after retryAfter: Duration?) -> Decision {
        failures += 1
        guard failures < plan.retry.maximumAttempts else { return fail(error) }
        return pause(failures, retryAfter, error)
    }

    private mutating func pause(
        _ count: Int, _ retryAfter: Duration?, _ error: RequestError
    ) -> Decision {
        if let retryAfter, retryAfter > plan.retry.maximumRetryAfter { return fail(error) }
        step = .pausing
        return Decision(
            operation: .pause(failures: count, retryAfter: retryAfter, error))
    }

    /// The upload does not exist on the server any more: creates another one, once in a run.
    private mutating func gone(_ error: RequestError?) -> Decision {
        guard plan.startsOver else { return fail(Self.gone(error, isAgain: false)) }
        guard !hasStartedOver else {
            var decision = fail(Self.gone(error, isAgain: true))
            decision.journal = .remove
            return decision
        }
        hasStartedOver = true
        return forget()
    }

    /// Forgets the upload on the server and creates another one.
    private mutating func forget() -> Decision {
        remote = nil
        (resumedOffset, greatestOffset) = (0, 0)
        (failures, conflicts, mismatches) = (0, 0, 0)
        var decision = begin()
        decision.journal = .remove
        return decision
    }

    private mutating func fail(_ error: RequestError) -> Decision {
        step = .ended
        end = .fail(error)
        return Decision(operation: .fail(error))
    }

    private var repeatedEnd: Operation { end ?? .fail(Self.outOfOrder) }

    private func refused(_ response: TusResponse, _ error: RequestError?) -> RequestError {
        switch response.status {
        case 412: Self.wrongVersion(response)
        case 413:
            RequestError(
                .bodyTooLarge, stage: .validate,
                "The server refused the size of the request (status 413). If it limits the size of "
                    + "single requests, set pieceSize.", response: error?.response)
        default: error ?? Self.status(response)
        }
    }
}
