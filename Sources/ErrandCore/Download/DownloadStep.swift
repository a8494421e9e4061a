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
        try destination.check(pipelineRequest.request.headers, plan.existingFile)
        if plan.existingFile == .keep, !destination.isFolder, destination.isTaken {
            return try await KeptFile.response(
                destination.file, plan,
                Response(
                    status: .ok, url: pipelineRequest.request.url, source: .cacheFresh, attempts: 0)
            )
        }
        let operation = DownloadOperation(
            pipelineRequest: pipelineRequest, plan: plan, destination: destination,
            file: try PartFile(destination), began: pipelineRequest.context.clock.uptime)
        do {
            let response = try await operation.run(next)
            await operation.file.close(.finished)
            return response
        } catch {
            let isDiscarded =
                error.code == .digestMismatch
                || error.isCancellation && !plan.options.keepsPartWhenCancelled
            await operation.file.close(isDiscarded ? .discarded : .kept)
            throw error
        }
    }
}

/// One attempt of a download, with all its range requests.
private struct DownloadOperation {
    let pipelineRequest: PipelineRequest
    let plan: DownloadPlan
    let destination: DownloadDestination
    let file: PartFile
    let began: Duration

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
        var resumedOffset = start.offset
        try await file.beginDigests(DigestExpectations(plan).algorithms, through: start.offset)
        while true {
            let sink = FileSink(
                file, destination, start: start, resumedOffset: resumedOffset,
                url: pipelineRequest.request.url,
                context: pipelineRequest.context, plan: plan)
            let sizeBefore = file.size
            let result = await send(next, start, sink)
            if case .write = sink.action { resumedOffset = 0 }
            if let existing = sink.chosen.existing, case .failure(let error) = result {
                guard let head = error.response, !error.isCancellation else { throw error }
                await file.close(.discarded)
                return try await KeptFile.response(existing, plan, head)
            }
            switch DownloadOutcome(result, action: sink.action, size: file.size) {
            case .complete(let response):
                return try await finish(response, sink, resumedOffset)
            case .partial(let total):
                // A server may send less than requested (RFC 9110 §15.3.7). The loop ends if it sends nothing new.
                guard case .resume(_, let validator, _) = start, file.size > sizeBefore else {
                    throw DownloadOutcome.noNewBytes
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

    private func finish(
        _ response: Response, _ sink: FileSink, _ resumedOffset: Int64
    ) async throws(RequestError) -> Response {
        let expectations = sink.expectations
        let digests = try await file.digests(expectations.algorithms)
        if let mismatch = expectations.mismatch(in: digests) { throw mismatch }
        // After this check, a cancellation no longer prevents the finished file.
        try pipelineRequest.scope.check()
        var response = response
        let bytes = file.size
        let placed = try await file.finish(
            plan.existingFile, name: sink.chosen.name ?? file.journal?.name,
            attributes: FileAttributes(
                plan.options, lastModified: response.headers[.lastModified]))
        guard placed.isNew else { return try await KeptFile.response(placed.file, plan, response) }
        response.setDownloadedFile(
            DownloadedFile(
                url: placed.file, bytes: bytes, resumedOffset: resumedOffset,
                digests: DownloadedFile.Digest.Algorithm.allCases.compactMap { digests[$0] },
                contentType: response.headers[.contentType],
                suggestedName: response.suggestedFilename,
                duration: pipelineRequest.context.clock.uptime - began))
        return response
    }
}
