import ErrandTransport

/// Opens the part file of a download for all attempts, and leaves a complete file or none.
///
/// The step runs outside retry, so that the part file stays locked, and its digests continue, between attempts. A
/// download that fails or is cancelled keeps the part file and its journal for the next start.
package final class DownloadStep: OptionalStep {
    package init() {}

    package func concerns(_ pipelineRequest: PipelineRequest) -> Bool {
        pipelineRequest.task.description.isDownload
    }

    nonisolated(nonsending) package func run(
        _ pipelineRequest: PipelineRequest, next: Next
    ) async throws(RequestError) -> Response {
        guard let plan = pipelineRequest.description.download else {
            return try await next(pipelineRequest)
        }
        let request = pipelineRequest.request
        let destination = try DownloadDestination(plan, url: request.url)
        try destination.check(request.headers, plan.existingFile)
        if plan.existingFile == .keep, !destination.isFolder, destination.isTaken {
            return try await KeptFile.response(
                destination.file, plan,
                Response(status: .ok, url: request.url, source: .cacheFresh, attempts: 0))
        }
        let session = try DownloadSession.open(
            plan, destination, url: request.url,
            began: pipelineRequest.task.clock.uptime)
        var pipelineRequest = pipelineRequest
        pipelineRequest.download = session
        do {
            // Ranges are defined for GET only (RFC 9110 §14.2).
            try await session.begin(
                allowsResume: request.method == .get
                    && pipelineRequest.description.acceptsStatus(206))
            // The last attempt has closed the file.
            return try await next(pipelineRequest)
        } catch {
            await session.close(after: error, discardsPart: pipelineRequest.task.discardsPart)
            throw error
        }
    }
}
