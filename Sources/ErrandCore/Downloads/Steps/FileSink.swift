import ErrandSystem
package import ErrandTransport
import Synchronization

/// Writes the body of a response to the part file of a download, if the response head permits it.
package final class FileSink: ResponseSink {
    private let session: DownloadSession
    private let request: SegmentRequest
    private let task: RequestTask
    private let state = Mutex(State())

    private struct State {
        var acceptance: DownloadSession.Acceptance?
        /// The URL of the last hop.
        var url: HTTPURL?
    }

    package init(_ session: DownloadSession, _ request: SegmentRequest, _ task: RequestTask) {
        self.session = session
        self.request = request
        self.task = task
    }

    /// The action for the response head; `nil` before the head arrives.
    package var action: DownloadResponseAction? { state.withLock { $0.acceptance?.action } }

    package func willSend(to url: HTTPURL) { state.withLock { $0.url = url } }

    package func accept(_ head: ResponseHead) -> Result<Bool, RequestError> {
        let description = task.description
        let acceptance = session.accept(
            request, head.status.code, head.headers, contentLength: head.contentLength,
            isAccepted: description.acceptsStatus(head.status.code)
                && ResponseValidation.acceptsContentType(of: head, description: description),
            final: state.withLock { $0.url } ?? session.replacementURL ?? session.url,
            willContinue: willContinue)
        state.withLock { $0.acceptance = acceptance }
        return acceptance.result
    }

    /// Sets the progress, to which all requests of the download then add their bytes.
    private func willContinue(at offset: Int64?, total: Int64?) {
        if let offset { task.emitAsynchronously(.resumed(offset: offset)) }
        let resumed = session.resumedOffset
        task.updateProgressAsynchronously {
            ($0.bytesReceived, $0.totalBytesToReceive) = (offset ?? 0, total)
            $0.resumedBytes = resumed
        }
    }

    package func write(_ bytes: UnsafeRawBufferPointer) -> Result<Bool, RequestError> {
        let (acceptance, skipped) = state.withLock { state -> (DownloadSession.Acceptance?, Int?) in
            state.acceptance?.content?.update(bytes)
            let skipped = state.acceptance?.overlap.matched(by: bytes)
            if skipped == nil { state.acceptance?.action = .restart }
            return (state.acceptance, skipped)
        }
        guard let acceptance, let skipped else {
            return .failure(
                RequestError(
                    .resumeFailed, stage: .transport,
                    "The end of the part file differs from the server's file. The download starts again from the "
                        + "beginning."))
        }
        let rest = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(skipped))
        return session.write(rest, of: request, acceptance).map { count, wantsMore in
            task.updateProgressAsynchronously { $0.bytesReceived += Int64(count) }
            return wantsMore
        }
    }

    package func finish(_ error: RequestError?) -> Result<Response.Body, RequestError> {
        if let error { return .failure(error) }
        let mismatch = state.withLock { state -> RequestError? in
            guard let mismatch = state.acceptance?.content?.mismatch() else { return nil }
            state.acceptance?.action = .restart
            return mismatch
        }
        return mismatch.map { .failure($0) } ?? .success(.file(session.destination.part))
    }
}
