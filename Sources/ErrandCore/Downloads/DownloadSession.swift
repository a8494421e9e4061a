package import ErrandHTTP
package import ErrandSystem
import Synchronization

/// A download over all attempts of its request: the open part file, the plan of its ranges, what the responses have said
/// so far, and its end: the file, or the part file for the next start.
package final class DownloadSession: Sendable {
    /// The end of an attempt.
    package enum End: Sendable {
        case complete(Response)
        /// The existing file is the result.
        case existing(URL, Response)
        /// The part file is unusable: request the whole file.
        case restart(RequestError)
        case failed(RequestError)
    }

    struct State {
        var planner = SegmentPlanner(written: ByteRanges(), total: nil, limit: 1, minimumSize: 1)
        /// The version of which bytes are present; `nil` requests the whole file.
        var version: DownloadVersion?
        var end: End?
        var response: Response?
        /// The refusal with which the attempt ends after its other requests, because its pause is too long.
        var refusal: RequestError?
        /// The number of parallel requests; refusals of the server reduce it for later attempts, too.
        var limit: Int
        var allowsResume = false
        var resumedOffset: Int64 = 0
        /// The greatest number of bytes that were present.
        var mostBytes: Int64 = 0
        var chosen = DownloadDestination.Choice()
        var serverDigests: [DownloadedFile.Digest] = []
        /// The URL that replaces the requested one.
        var url: HTTPURL?
        /// Whether an attempt had another URL than the recorded one: the bytes may be those of that URL.
        var hasOtherURL = false
        /// The number of replacements since ``bytesAtRefresh`` grew.
        var refreshes = 0
        /// The greatest number of bytes that were present at a replacement.
        var bytesAtRefresh: Int64 = 0
        var waiters: [CheckedContinuation<SegmentPlanner.Action, Never>] = []
        var whenStopped: (@Sendable () -> Void)?

        /// Whether the attempt needs no further request.
        var isOver: Bool { end != nil || planner.isComplete }

        mutating func takeWaiters() -> [CheckedContinuation<SegmentPlanner.Action, Never>] {
            exchange(&waiters, with: [])
        }
    }

    package let plan: DownloadPlan
    package let destination: DownloadDestination
    package let file: PartFile
    /// The URL of the request, before redirects and replacements.
    package let url: HTTPURL
    /// The time of the start, by the agent's clock.
    package let began: Duration
    let state: Mutex<State>

    package init(
        _ plan: DownloadPlan, _ destination: DownloadDestination, _ file: PartFile, url: HTTPURL,
        began: Duration
    ) {
        self.plan = plan
        self.destination = destination
        self.file = file
        self.url = url
        self.began = began
        state = Mutex(State(limit: plan.segments))
    }

    /// Opens the part file of a download; with ``DownloadPlan/ExistingFile/rename`` one that no other download uses.
    package static func open(
        _ plan: DownloadPlan, _ first: DownloadDestination, url: HTTPURL, began: Duration
    ) throws(RequestError) -> DownloadSession {
        var destination = first
        for number in 2...maximumParts {
            do throws(RequestError) {
                let file = try PartFile(destination)
                return DownloadSession(plan, destination, file, url: url, began: began)
            } catch {
                guard plan.existingFile == .rename, error.isFileInUse else { throw error }
            }
            destination = try DownloadDestination(plan, url: url, number: number)
        }
        return DownloadSession(
            plan, destination, try PartFile(destination), url: url, began: began)
    }

    /// The greatest number of downloads of one URL to one destination at the same time.
    private static let maximumParts = 100

    /// The number of bytes of earlier starts that were not received again.
    package var resumedOffset: Int64 { state.withLock { $0.resumedOffset } }
    /// The digests to compute and to compare, with those of the responses.
    package var expectations: DigestExpectations {
        DigestExpectations(plan, server: state.withLock { $0.serverDigests })
    }
    /// The name that the response gives to the file in a folder.
    package var name: String? { state.withLock { $0.chosen.name } ?? file.journal?.name }
    /// The URL that replaces those of the requests; `nil` if there is none.
    package var replacementURL: HTTPURL? { state.withLock { $0.url } }

    // MARK: - Attempts

    /// Prepares the first attempt: reads the bytes that are present for the digests.
    ///
    /// - Parameter allowsResume: Whether the request can be sent with `Range`.
    package func begin(allowsResume: Bool) async throws(RequestError) {
        let start = start()
        let isResumed = allowsResume && plan.resumes && start != .fresh
        let present = isResumed ? (file.isSegmented ? file.written.prefix : start.offset) : 0
        // A response to a range may not repeat them.
        let digests = isResumed ? file.journal?.serverDigests ?? [] : []
        state.withLock { state in
            state.allowsResume = allowsResume && plan.resumes
            state.resumedOffset = isResumed ? start.offset : 0
            state.mostBytes = state.resumedOffset
            state.serverDigests = digests
        }
        try await file.beginDigests(expectations.algorithms, through: present)
    }

    private func start() -> DownloadStart {
        DownloadPlanner.start(
            allowsResume: true, url: url.string, journal: file.journal, partSize: file.size,
            session: BootSession.current, plan: plan, isOpen: file.hasBegun)
    }

    /// Plans an attempt.
    ///
    /// - Parameters:
    ///   - requested: The URL of its requests, if there is no replacement. Request processors may have changed it.
    ///   - isRestart: Whether the bytes that are present are not used.
    package func beginAttempt(at requested: HTTPURL, isRestart: Bool = false) {
        let start = start()
        let written = file.isSegmented ? file.written : ByteRanges([0..<start.offset])
        let journal = file.journal
        state.withLock { state in
            (state.end, state.response, state.version) = (nil, nil, nil)
            state.refusal = nil
            if state.url != nil || requested != url { state.hasOtherURL = true }
            if state.allowsResume, !isRestart, let journal,
                case .resume(_, let validator, let total) = start
            {
                state.version = DownloadVersion(
                    validator: validator, isWeak: journal.isWeak, total: total,
                    overlap: plan.weakValidatorOverlap,
                    isOtherURL: journal.url != url.string || state.hasOtherURL)
            }
            state.planner = SegmentPlanner(
                written: state.version == nil ? ByteRanges() : written,
                total: state.version?.total, limit: state.limit,
                minimumSize: plan.minimumSegmentSize)
        }
    }

    /// The number of workers of an attempt.
    package var workers: Int { state.withLock { $0.allowsResume ? $0.limit : 1 } }

    /// Calls a handler once when the attempt needs no further request and no further pause.
    package func whenStopped(_ handler: (@Sendable () -> Void)?) {
        let call = state.withLock { state in
            state.whenStopped = handler
            return state.isOver ? handler : nil
        }
        call?()
    }

    /// The next request of a worker; `nil` ends the worker.
    package func next() async -> SegmentRequest? {
        while true {
            var step = state.withLock { $0.planner.next() }
            if step == .wait {
                step = await withCheckedContinuation { continuation in
                    let step = state.withLock { state -> SegmentPlanner.Action? in
                        let step = state.planner.next()
                        if step == .wait { state.waiters.append(continuation) }
                        return step == .wait ? nil : step
                    }
                    if let step { continuation.resume(returning: step) }
                }
            }
            switch step {
            case .wait: continue
            case .done: return nil
            case .start(let segment):
                return state.withLock { SegmentRequest(segment, $0.version) }
            }
        }
    }

    /// The result of an attempt after its workers have ended.
    package func takeEnd() -> End {
        let (end, response, isComplete, version) = state.withLock { state in
            (state.end, state.response, state.planner.isComplete, state.version)
        }
        if let end { return end }
        let size = file.size
        guard isComplete, let response, version?.total.map({ $0 == size }) ?? true else {
            return .failed(DownloadOutcome.noNewBytes)
        }
        return .complete(DownloadOutcome.whole(response, size: size))
    }

    /// Whether more bytes are present than after any earlier call.
    package func takeProgress() -> Bool {
        let size = file.size
        return state.withLock { state in
            guard size > state.mostBytes else { return false }
            state.mostBytes = size
            return true
        }
    }

    /// Removes the bytes, which are not those of the expected file.
    package func discard() { _ = file.begin(nil) }

    // MARK: - The end

    package typealias Digests = [DownloadedFile.Digest.Algorithm: DownloadedFile.Digest]

    /// Closes the part file of a download that has failed or was cancelled.
    ///
    /// - Parameter discardsPart: Whether a cancelled download removes the part file; `nil` leaves that to the plan.
    package func close(after error: RequestError, discardsPart: Bool?) async {
        let isDiscarded =
            error.code == .digestMismatch
            || error.isCancellation && (discardsPart ?? !plan.keepsPartWhenCancelled)
        await file.close(isDiscarded ? .discarded : .kept)
    }

    /// The response with an existing file, which is the result.
    package func keep(_ existing: URL, _ head: Response) async throws(RequestError) -> Response {
        await file.close(.discarded)
        return try await KeptFile.response(existing, plan, head)
    }

    /// Compares the digests of the complete part file, and removes its bytes if they differ.
    package func verify() async throws(RequestError) -> Digests {
        let expectations = expectations
        let digests = try await file.digests(expectations.algorithms)
        if let mismatch = expectations.mismatch(in: digests) {
            discard()
            throw mismatch
        }
        return digests
    }

    /// Makes the verified part file the file of the download.
    package func finish(
        _ response: Response, _ digests: Digests, at uptime: Duration
    ) async throws(RequestError) -> Response {
        var response = response
        let bytes = file.size
        let placed = try await file.finish(
            plan.existingFile, name: name,
            attributes: FileAttributes(plan, lastModified: response.headers[.lastModified]))
        guard placed.isNew else { return try await KeptFile.response(placed.file, plan, response) }
        response.setDownloadedFile(
            DownloadedFile(
                file: placed.file, bytes: bytes, resumedOffset: resumedOffset,
                digests: DownloadedFile.Digest.Algorithm.allCases.compactMap { digests[$0] },
                contentType: response.headers[.contentType],
                suggestedName: response.suggestedFilename, duration: uptime - began))
        return response
    }

    // MARK: - Ends of requests

    /// Records the end of a request.
    ///
    /// - Parameters:
    ///   - policy: A refusal that asks for a longer pause than this policy allows ends the attempt, after its other
    ///     requests.
    ///   - now: The date to which the date of a `Retry-After` refers.
    /// - Returns: The pause for which a refusal asks; no request starts before ``endPause()``.
    package func ended(
        _ request: SegmentRequest, _ result: Result<Response, RequestError>,
        _ action: DownloadResponseAction?, _ policy: RetryPolicy, now: Date
    ) -> Duration? {
        let size = file.size
        let (waiters, stopped, pause) = state.withLock { state in
            var pause: Duration?
            // The end of the attempt has cancelled this request.
            if state.end == nil {
                pause = end(request, result, action, size: size, policy, now, &state)
            }
            if let refusal = state.refusal, state.end == nil, state.planner.activeCount == 0,
                !state.planner.isComplete
            {
                state.end = .failed(refusal)
            }
            if state.end != nil { state.planner.stop() }
            let stopped = state.isOver ? state.whenStopped.take() : nil
            return (state.takeWaiters(), stopped, pause)
        }
        stopped?()
        for waiter in waiters { waiter.resume(returning: .wait) }
        return pause
    }

    /// Ends a pause that ``ended(_:_:_:_:now:)`` has returned.
    package func endPause() {
        state.withLock { $0.planner.endPause() }
        wake()
    }

    /// Records the end of a request; returns the pause for which a refusal asks.
    private func end(
        _ request: SegmentRequest, _ result: Result<Response, RequestError>,
        _ action: DownloadResponseAction?, size: Int64, _ policy: RetryPolicy, _ now: Date,
        _ state: inout State
    ) -> Duration? {
        let id = request.segment.id
        if let existing = state.chosen.existing, case .failure(let error) = result,
            let head = error.response, !error.isCancellation
        {
            state.end = .existing(existing, head)
            return nil
        }
        switch DownloadOutcome(result, action: action, size: size) {
        case .received(let response):
            if case .write = action, let segment = state.planner.segment(id),
                segment.end != .max, !state.planner.isFull(id)
            {
                state.end = .failed(DownloadOutcome.truncated(response))
                return nil
            }
            state.response = state.response ?? response
            if !state.planner.finished(id) { state.end = .failed(DownloadOutcome.noNewBytes) }
        case .complete(let response):
            _ = state.planner.finished(id)
            state.end = .complete(response)
        case .ignored(let error):
            if !state.planner.failed(id, .ignored) { state.end = .restart(error) }
        case .restart(let error):
            state.end = .restart(error)
        case .fail(let error):
            let failure = SegmentPlanner.Failure(error)
            guard let failure, state.planner.failed(id, failure) else {
                state.end = .failed(error)
                return nil
            }
            guard failure == .refused else { return nil }
            state.limit = state.planner.limit
            let asked = RetryAfter.duration(error.response?.headers[.retryAfter], now: now)
            guard let asked, asked > .zero else { return nil }
            state.planner.beginPause()
            if asked <= policy.maximumRetryAfter { return asked }
            state.refusal = state.refusal ?? error
        }
        return nil
    }
}
