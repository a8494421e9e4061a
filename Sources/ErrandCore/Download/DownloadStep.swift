import ErrandDownload
import ErrandTransport
import Foundation
import HTTPTypes

/// Downloads a body to a file: resumes the part file of an earlier run, and leaves a complete file or none.
///
/// The step runs inside retry, so that another attempt resumes where the last one stopped, and outside validation, so
/// that the body of an error response is not written to the file. A 416 response to a range therefore arrives as a
/// validation error. A download that fails or is cancelled keeps the part file and its journal for the next start.
package final class DownloadStep: Step {
    package init() {}

    package func concerns(_ pipelineRequest: PipelineRequest) -> Bool {
        pipelineRequest.context.description.download != nil
    }

    nonisolated(nonsending) package func run(
        _ pipelineRequest: PipelineRequest, next: Next
    ) async throws(RequestError) -> Response {
        guard let plan = pipelineRequest.description.download else {
            return try await next(pipelineRequest)
        }
        let destination = try DownloadDestination(plan, url: pipelineRequest.request.url)
        try check(plan, destination, pipelineRequest.request)
        let operation = DownloadOperation(
            pipelineRequest: pipelineRequest, plan: plan, destination: destination,
            file: try PartFile(destination))
        do {
            let response = try await operation.run(next)
            await operation.file.close(.finished)
            return response
        } catch {
            await operation.file.close(error.code == .digestMismatch ? .discarded : .kept)
            throw error
        }
    }

    /// Checks the options before anything is sent.
    private func check(
        _ plan: DownloadPlan, _ destination: DownloadDestination, _ request: TransportRequest
    ) throws(RequestError) {
        if request.headers[.range] != nil || request.headers[.ifRange] != nil {
            throw .invalidCombination(
                "A download sets Range and If-Range itself. Remove them from the headers.")
        }
        if plan.existingFile == .fail, destination.isTaken {
            throw FilePlacement.exists(destination.file)
        }
    }
}

/// One attempt of a download, with all its range requests.
private struct DownloadOperation {
    let pipelineRequest: PipelineRequest
    let plan: DownloadPlan
    let destination: DownloadDestination
    let file: PartFile

    func run(_ next: Next) async throws(RequestError) -> Response {
        let url = pipelineRequest.request.url.string
        // Ranges are defined for GET only (RFC 9110 §14.2).
        let allowsResume =
            plan.resumes && pipelineRequest.request.method == .get
            && pipelineRequest.description.acceptsStatus(206)
        var start = DownloadPlanner.start(
            allowsResume: allowsResume, url: url, journal: file.journal, partSize: file.size,
            session: BootSession.current)
        var mayRestart = true
        while true {
            let sink = FileSink(
                file, part: destination.part, start: start, url: url,
                context: pipelineRequest.context)
            let sizeBefore = file.size
            let result = await send(next, start, sink)
            switch evaluate(result, sink, start) {
            case .complete(let response):
                return try await finish(response)
            case .partial(let total):
                // A server may send less than requested (RFC 9110 §15.3.7). The loop ends if it sends nothing new.
                guard case .resume(_, let validator, _) = start, file.size > sizeBefore else {
                    throw RequestError(
                        .resumeFailed, stage: .transport,
                        "The server sent a range without new bytes. Start the download again, or do not resume it."
                    )
                }
                start = .resume(offset: file.size, validator: validator, total: total)
            case .restart(let error):
                guard mayRestart else { throw error }
                mayRestart = false
                start = .fresh
            case .fail(let error):
                throw error
            }
        }
    }

    private enum Outcome {
        case complete(Response)
        case partial(total: Int64?)
        case restart(RequestError)
        case fail(RequestError)
    }

    private func send(
        _ next: Next, _ start: DownloadStart, _ sink: FileSink
    ) async -> Result<Response, RequestError> {
        var pipelineRequest = pipelineRequest
        pipelineRequest.sink = sink
        // Ranges of an encoded body would not match the bytes of the file.
        pipelineRequest.request.headers[.acceptEncoding] = "identity"
        if case .resume(let offset, let validator, _) = start {
            pipelineRequest.request.headers[.range] = "bytes=\(offset)-"
            pipelineRequest.request.headers[.ifRange] = validator
        }
        do throws(RequestError) {
            return .success(try await next(pipelineRequest))
        } catch {
            return .failure(error)
        }
    }

    private func evaluate(
        _ result: Result<Response, RequestError>, _ sink: FileSink, _ start: DownloadStart
    ) -> Outcome {
        switch result {
        case .failure(let error):
            switch sink.action {
            case .settle:
                guard error.code == .unacceptableStatus, let response = error.response else {
                    return .fail(error)
                }
                return .complete(completed(response))
            case .restart: return error.isCancellation ? .fail(error) : .restart(error)
            default: return .fail(error)
            }
        case .success(let response):
            switch sink.action {
            case .settle: return .complete(completed(response))
            case .append(_, let total):
                return file.size == total ? .complete(response) : .partial(total: total)
            case .write(let total, _) where response.file != nil:
                guard total == nil || total == file.size else { return .fail(truncated(response)) }
                return .complete(response)
            default:
                return .fail(
                    RequestError(
                        .unacceptableStatus, stage: .validate,
                        "Status \(response.statusCode) has no file content. Accept only status 200 for a "
                            + "download.", response: response))
            }
        }
    }

    private func truncated(_ response: Response) -> RequestError {
        RequestError(
            .truncatedBody, stage: .transport,
            "The length of the body differs from Content-Length. Start the download again to resume it.",
            response: response)
    }

    /// Changes a 416 for a complete part file to a success.
    private func completed(_ response: Response) -> Response {
        var response = response
        response.status = .ok
        response.headers[.contentRange] = nil
        response.headers[.contentLength] = nil
        response.headers[.contentType] = nil
        return response
    }

    private func finish(_ response: Response) async throws(RequestError) -> Response {
        if let expected = plan.sha256?.lowercased() {
            let found = try await file.digest()
            guard found == expected else {
                throw RequestError(
                    .digestMismatch, stage: .validate,
                    "The downloaded file has SHA-256 \(found), expected \(expected). It was deleted. "
                        + "Check the expected digest, and whether the file on the server has changed."
                )
            }
        }
        // After this check, a cancellation no longer prevents the finished file.
        try pipelineRequest.scope.check()
        var response = response
        response.body = .file(try await file.finish(plan.existingFile))
        return response
    }
}
