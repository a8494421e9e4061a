package import ErrandHTTP
import ErrandSystem
package import HTTPTypes
import Synchronization

/// Heads and bytes of responses; called on threads of the transport, for each request serially.
extension DownloadSession {
    /// The decision about the head of a response.
    package struct Acceptance: Sendable {
        package var action: DownloadResponseAction
        /// Whether the body is written to the file, or an error that ends the transfer.
        package var result: Result<Bool, RequestError>
        /// The index of the range in the part file.
        package var index = 0
        /// The end of the bytes that the response sends; `Int64.max` if it is unknown.
        package var end = Int64.max
        /// The bytes to compare with the first ones of the response.
        package var overlap = TailOverlap(Data())
        /// The digests of the content of a part; `nil` without such fields.
        package var content: ContentDigests?
    }

    /// Receives the offset at which an attempt continues the file, `nil` for the whole file, and the total length.
    package typealias ContinuationHandler = (_ offset: Int64?, _ total: Int64?) -> Void

    /// - Parameters:
    ///   - isAccepted: Whether validation accepts a successful response with this head.
    ///   - final: The URL after redirects.
    ///   - willContinue: Called if the attempt continues the file with this response, before other requests may start.
    package func accept(
        _ request: SegmentRequest, _ status: Int, _ headers: HTTPFields, contentLength: Int64?,
        isAccepted: Bool, final: HTTPURL, willContinue: ContinuationHandler
    ) -> Acceptance {
        var action = DownloadPlanner.action(
            status, headers, contentLength: contentLength, after: request.start, request.rules)
        // A response that validation will reject must not replace the part file.
        if status < 300, !isAccepted { action = .reject }
        let id = request.segment.id
        if case .write(let total, _) = action, !state.withLock({ $0.planner.claimWhole(id) }) {
            action = isCurrentVersion(headers, total: total) ? .ignore : .restart
        }
        var acceptance = Acceptance(action: action, result: .success(false))
        // The end of the attempt cancels this request; the file belongs to the next attempt.
        if state.withLock({ $0.end != nil }) {
            acceptance.result = .failure(.cancelled)
            return acceptance
        }
        switch action {
        case .write(let total, let validator):
            let failure = acceptWhole(
                request, headers, total: total, validator: validator, final: final, willContinue)
            acceptance.result = failure.map { .failure($0) } ?? .success(true)
            acceptance.end = total ?? .max
        case .append(let offset, let total):
            do throws(RequestError) {
                try acceptPart(
                    request, headers, at: offset, total: total, final, &acceptance, willContinue)
                acceptance.result = .success(true)
            } catch {
                acceptance.result = .failure(error)
            }
        case .settle, .reject: break
        case .restart, .ignore:
            acceptance.result = .failure(
                RequestError(
                    .resumeFailed, stage: .transport,
                    "The server's range does not match the part file. The download starts again from the beginning."
                ))
        case .refuse(let message):
            acceptance.result = .failure(
                RequestError(.badServerResponse, stage: .transport, message))
        }
        wake()
        return acceptance
    }

    private func isCurrentVersion(_ headers: HTTPFields, total: Int64?) -> Bool {
        guard let version = state.withLock({ $0.version }) else { return false }
        return version.total == total
            && ResumeValidator.confirms(headers, validator: version.validator)
    }

    /// Chooses the name in a folder; an error if the policy for existing files ends the download.
    private func chooseName(
        _ headers: HTTPFields, _ final: HTTPURL, isWhole: Bool
    ) -> RequestError? {
        let chosen = destination.choose(
            headers, final: final, requested: url, resumed: isWhole ? nil : file.journal?.name,
            plan.existingFile)
        state.withLock { $0.chosen = chosen }
        return chosen.error
    }

    private func acceptWhole(
        _ request: SegmentRequest, _ headers: HTTPFields, total: Int64?, validator: String?,
        final: HTTPURL, _ willContinue: ContinuationHandler
    ) -> RequestError? {
        if let error = chooseName(headers, final, isWhole: true)
            ?? file.shortage(total: total, keeping: 0)
        {
            return error
        }
        var weak =
            validator == nil && plan.weakValidatorOverlap > 0
            ? ResumeValidator.weak(in: headers) : nil
        if plan.resumesWithoutValidator, total != nil,
            ResumeValidator.isMissing(in: headers)
        {
            weak = ""
        }
        let digests = DigestFields.digests(in: headers, isWhole: true)
        let version = (validator ?? weak).map {
            DownloadVersion(
                validator: $0, isWeak: validator == nil, total: total,
                overlap: plan.weakValidatorOverlap)
        }
        let (name, limit, allowsResume) = state.withLock { state in
            state.serverDigests = digests
            (state.resumedOffset, state.version) = (0, version)
            return (state.chosen.name, state.limit, state.allowsResume)
        }
        let journal = version.map {
            DownloadJournal(
                url: url.string, validator: $0.validator, isWeak: $0.isWeak, total: total,
                session: BootSession.current, name: name, serverDigests: digests)
        }
        if let error = file.begin(journal, computing: expectations.algorithms) { return error }
        let maySplit =
            allowsResume && limit > 1 && validator != nil
            && headers[.acceptRanges]?.lowercasedASCII() != "none"
            && total ?? 0 >= 2 * plan.minimumSegmentSize
        if maySplit, let error = file.beginSegments() { return error }
        willContinue(nil, total)
        state.withLock {
            $0.planner.acceptedWhole(request.segment.id, total: total, maySplit: maySplit)
        }
        return nil
    }

    private func acceptPart(
        _ request: SegmentRequest, _ headers: HTTPFields, at offset: Int64, total: Int64?,
        _ final: HTTPURL, _ acceptance: inout Acceptance,
        _ willContinue: ContinuationHandler
    ) throws(RequestError) {
        let isFirst = state.withLock { $0.planner.activeCount == 1 && $0.response == nil }
        let present = isFirst ? (file.isSegmented ? file.size : offset) : nil
        if let present {
            if let error = chooseName(headers, final, isWhole: false)
                ?? file.shortage(total: total, keeping: present)
            {
                throw error
            }
        }
        let overlap = request.rules.overlap
        if overlap > 0 {
            acceptance.overlap = TailOverlap(try file.bytes(before: offset, count: overlap))
        }
        if let error = file.resume(at: offset, total: total) { throw error }
        let (limit, isWeak) = state.withLock { state in
            let digests = DigestFields.digests(in: headers, isWhole: false)
            if !digests.isEmpty { state.serverDigests = digests }
            state.version?.total = total
            return (state.limit, state.version?.isWeak ?? true)
        }
        let maySplit =
            limit > 1 && !isWeak
            && (total ?? 0) - offset >= 2 * plan.minimumSegmentSize
        if maySplit || file.isSegmented, let error = file.beginSegments() { throw error }
        if file.isSegmented { acceptance.index = file.open(at: offset) }
        let range = headers[.contentRange].flatMap(ContentRange.init)?.bytes
        acceptance.end = range.map { $0.upperBound + 1 } ?? .max
        if let range, plan.verifiesServerDigests, plan.allExpectedDigests.isEmpty {
            let digests = DigestFields.contentDigests(in: headers)
            if !digests.isEmpty {
                acceptance.content = ContentDigests(
                    digests, length: range.upperBound - range.lowerBound + 1)
            }
        }
        if let present { willContinue(present, total) }
        state.withLock {
            $0.planner.acceptedPart(request.segment.id, total: total, maySplit: maySplit)
        }
    }

    func wake() {
        for waiter in state.withLock({ $0.takeWaiters() }) { waiter.resume(returning: .wait) }
    }

    /// Writes those bytes of a response that belong to its range.
    ///
    /// - Returns: Their number, and whether the response may send more of them.
    package func write(
        _ bytes: UnsafeRawBufferPointer, of request: SegmentRequest, _ acceptance: Acceptance
    ) -> Result<(count: Int, wantsMore: Bool), RequestError> {
        let id = request.segment.id
        let (count, isFull, end) = state.withLock { state in
            let count = state.planner.admit(bytes.count, to: id)
            return (count, state.planner.isFull(id), state.planner.segment(id)?.end ?? 0)
        }
        if count > 0 {
            let admitted = UnsafeRawBufferPointer(rebasing: bytes.prefix(count))
            if let error = file.write(admitted, to: acceptance.index) { return .failure(error) }
        }
        // A response that ends here by itself leaves its connection usable.
        return .success((count, count == bytes.count && (!isFull || acceptance.end <= end)))
    }

    // MARK: - Replaced URLs

    /// The source of another URL for a failed request; `nil` if the error does not ask for one.
    package func urlRefresh(
        after error: RequestError
    ) -> (@Sendable (RequestError) async throws -> String?)? {
        guard let refresh = plan.urlRefresh, error.code == .unacceptableStatus,
            let status = error.response?.statusCode, plan.urlRefreshStatuses.contains(status)
        else { return nil }
        let size = file.size
        return state.withLock { state in
            if size > state.bytesAtRefresh { (state.bytesAtRefresh, state.refreshes) = (size, 0) }
            guard state.refreshes < DownloadPlan.maximumURLsWithoutBytes else { return nil }
            state.refreshes += 1
            return refresh
        }
    }

    /// Uses another URL from now on.
    package func replaceURL(_ url: HTTPURL) { state.withLock { $0.url = url } }
}
