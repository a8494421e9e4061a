import ErrandSystem
import ErrandTransport

/// Requests the missing bytes of a download, in one request or in parallel ones.
///
/// The step runs inside retry, so that another attempt requests what the last one has not received, and outside
/// validation, so that the body of an error response is not written to the file. A 416 response to a range therefore
/// arrives as a validation error.
package final class DownloadAttemptStep: OptionalStep {
    package init() {}

    package func concerns(_ pipelineRequest: PipelineRequest) -> Bool {
        pipelineRequest.task.description.isDownload
    }

    nonisolated(nonsending) package func run(
        _ pipelineRequest: PipelineRequest, next: Next
    ) async throws(RequestError) -> Response {
        guard let session = pipelineRequest.download else {
            return try await next(pipelineRequest)
        }
        return try await Attempt(pipelineRequest: pipelineRequest, session: session, next: next)
            .run()
    }
}

private struct Attempt: Sendable {
    let pipelineRequest: PipelineRequest
    let session: DownloadSession
    let next: Next

    func run() async throws(RequestError) -> Response {
        var mayRestart = true
        var isRestart = false
        while true {
            session.beginAttempt(at: pipelineRequest.request.url, isRestart: isRestart)
            isRestart = false
            await receive()
            switch session.takeEnd() {
            case .complete(let response): return try await finish(response)
            case .existing(let file, let head):
                return try await session.keep(file, head)
            case .restart(let error):
                // Bytes that do not match their digest must not be resumed.
                if error.code == .digestMismatch { session.discard() }
                guard mayRestart else { throw error }
                (mayRestart, isRestart) = (false, true)
            case .failed(let error): try await replaceURL(after: error)
            }
        }
    }

    /// Runs the requests of the attempt until no byte is missing, or one of them ends the attempt.
    private func receive() async {
        let workers = session.workers
        guard workers > 1 else { return await work(pipelineRequest) }
        pipelineRequest.task.pause.expectSeveralTransfers()
        await pipelineRequest.scope.withChild { scope in
            session.whenStopped { scope.cancel() }
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<workers {
                    var request = pipelineRequest
                    request.scope = scope
                    // The requests of one download count as one; only the first returns and takes the permit.
                    if number > 0 { request.permit = nil }
                    group.addTask { [request] in await work(request) }
                }
            }
            session.whenStopped(nil)
        }
    }

    private func work(_ pipelineRequest: PipelineRequest) async {
        while let segment = await session.next() {
            let sink = FileSink(session, segment, pipelineRequest.task)
            // Without a replacement, the request has the URL that its processors made for this attempt.
            var request =
                session.replacementURL.map { pipelineRequest.moved(to: $0) } ?? pipelineRequest
            request.sink = sink
            segment.apply(to: &request.request.headers)
            let result: Result<Response, RequestError>
            do throws(RequestError) {
                result = .success(try await next(request))
            } catch {
                result = .failure(error)
            }
            let pause = session.ended(
                segment, result, sink.action, RetryStep.policy(of: request),
                now: request.task.clock.now)
            guard let pause else { continue }
            try? await request.sleep(for: pause)  // or until the attempt is over
            session.endPause()
        }
    }

    /// Asks for another URL after an error; throws it if there is none.
    private func replaceURL(after error: RequestError) async throws(RequestError) {
        guard let refresh = session.urlRefresh(after: error) else { throw error }
        let text: String?
        do {
            text = try await pipelineRequest.scope.run { try await refresh(error) }
        } catch {
            try pipelineRequest.scope.check()
            throw RequestError.refreshFailed(error)
        }
        guard let text else { throw error }
        session.replaceURL(try HTTPURL(parsing: text))
    }

    private func finish(_ response: Response) async throws(RequestError) -> Response {
        let digests = try await session.verify()
        // After this check, a cancellation no longer prevents the finished file.
        try pipelineRequest.scope.check()
        return try await session.finish(
            response, digests, at: pipelineRequest.task.clock.uptime)
    }
}

extension RequestError {
    fileprivate static func refreshFailed(_ error: any Error) -> RequestError {
        if let error = error as? RequestError { return error }
        return RequestError(
            .rejected, stage: .transport,
            "urlRefresh of the download threw an error. Return nil if there is no other URL.",
            underlying: error)
    }
}

extension PipelineRequest {
    /// The request with another URL, without credentials if that has another origin, as after a redirect.
    fileprivate func moved(to url: HTTPURL) -> PipelineRequest {
        guard request.url != url else { return self }
        var moved = self
        moved.request.url = url
        moved.request.url.fragment = nil
        if !url.hasOrigin(of: request.url) {
            moved.request.headers = RedirectDecision.headers(
                of: moved.request, withoutCredentialsOf: request, bound: adaptation.boundHeaders)
            moved.adaptation.boundHeaders = []
            moved.hasLeftOrigin = true
        }
        return moved
    }
}
