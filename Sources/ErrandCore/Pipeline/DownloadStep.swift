import Foundation
import HTTPTypes

/// Brings a body into a file: resumed where an earlier run stopped, complete or not at all.
///
/// It stands inside retry, so that a further attempt goes on where the last one broke off, and
/// outside validation, so that an error's body is an error and no file. The answer to a range that
/// turns out to be empty (416) therefore arrives as validation's error. What fails or is cancelled
/// leaves part and journal for the next start.
package struct DownloadStep: Step {
    package init() {}

    package func concerns(_ exchange: Exchange) -> Bool {
        exchange.context.description.download != nil
    }

    nonisolated(nonsending) package func run(
        _ exchange: Exchange, next: Next
    ) async throws(RequestError) -> Response {
        guard let plan = exchange.description.download else { return try await next(exchange) }
        let destination = try DownloadDestination(plan, url: exchange.request.url)
        try check(plan, destination, exchange.request)
        let visit = DownloadVisit(
            exchange: exchange, plan: plan, destination: destination,
            file: try PartFile(destination))
        do {
            let response = try await visit.run(next)
            await visit.file.close(.finished)
            return response
        } catch {
            await visit.file.close(error.code == .digestMismatch ? .discarded : .kept)
            throw error
        }
    }

    /// What can be known before anything is sent.
    private func check(
        _ plan: DownloadPlan, _ destination: DownloadDestination, _ request: TransportRequest
    ) throws(RequestError) {
        if request.headers[.range] != nil || request.headers[.ifRange] != nil {
            throw RequestError(
                .invalidCombination, stage: .build,
                "A download sets Range and If-Range itself. Remove them from the headers.")
        }
        if let digest = plan.sha256, digest.count != 64 || !digest.allSatisfy(\.isHexDigit) {
            throw RequestError(
                .invalidConfiguration, stage: .build,
                "The expected SHA-256 of a download is 64 digits in hex.")
        }
        if plan.existingFile == .fail, destination.isTaken {
            throw FilePlacement.exists(destination.file)
        }
    }
}

/// One attempt at a download.
private struct DownloadVisit {
    let exchange: Exchange
    let plan: DownloadPlan
    let destination: DownloadDestination
    let file: PartFile

    func run(_ next: Next) async throws(RequestError) -> Response {
        let url = exchange.request.url.string
        // Ranges are defined for GET only (RFC 9110 §14.2).
        let allowsResume =
            plan.resumes && exchange.request.method == .get
            && exchange.description.acceptsStatus(206)
        var start = DownloadPlanner.start(
            allowsResume: allowsResume, url: url, journal: file.journal, partSize: file.size,
            session: BootSession.current)
        var mayRestart = true
        while true {
            let sink = FileSink(
                file, part: destination.part, start: start, url: url, context: exchange.context)
            let sizeBefore = file.size
            let result = await ask(next, start, sink)
            switch judge(result, sink, start) {
            case .complete(let response):
                return try await settle(response)
            case .partial(let total):
                // A server may send less than was asked for (RFC 9110 §15.3.7); without any
                // progress it would go on for ever.
                guard case .resume(_, let validator, _) = start, file.size > sizeBefore else {
                    throw RequestError(
                        .resumeFailed, stage: .transport,
                        "The server keeps sending ranges that bring the download no further.")
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

    private func ask(
        _ next: Next, _ start: DownloadStart, _ sink: FileSink
    ) async -> Result<Response, RequestError> {
        var exchange = exchange
        exchange.sink = sink
        // An encoded body has other bytes than the file: its ranges would be of no use.
        exchange.request.headers[.acceptEncoding] = "identity"
        if case .resume(let offset, let validator, _) = start {
            exchange.request.headers[.range] = "bytes=\(offset)-"
            exchange.request.headers[.ifRange] = validator
        }
        do throws(RequestError) {
            return .success(try await next(exchange))
        } catch {
            return .failure(error)
        }
    }

    private func judge(
        _ result: Result<Response, RequestError>, _ sink: FileSink, _ start: DownloadStart
    ) -> Outcome {
        switch result {
        case .failure(let error):
            switch sink.answer {
            case .settle:
                guard error.code == .unacceptableStatus, let response = error.response else {
                    return .fail(error)
                }
                return .complete(settled(response))
            case .restart: return error.isCancellation ? .fail(error) : .restart(error)
            default: return .fail(error)
            }
        case .success(let response):
            switch sink.answer {
            case .settle: return .complete(settled(response))
            case .append(_, let total):
                return file.size == total ? .complete(response) : .partial(total: total)
            case .write(let total, _) where response.file != nil:
                guard total == nil || total == file.size else { return .fail(truncated(response)) }
                return .complete(response)
            default:
                return .fail(
                    RequestError(
                        .unacceptableStatus, stage: .validate,
                        "The server answered \(response.statusCode), which brings no file. Accept only "
                            + "200 for a download.", response: response))
            }
        }
    }

    private func truncated(_ response: Response) -> RequestError {
        RequestError(
            .truncatedBody, stage: .transport,
            "The body has another length than was announced. Start again to go on where it ended.",
            response: response)
    }

    /// A 416 that says "you have it all" is a success for whoever wants the file.
    private func settled(_ response: Response) -> Response {
        var response = response
        response.status = .ok
        response.headers[.contentRange] = nil
        response.headers[.contentLength] = nil
        response.headers[.contentType] = nil
        return response
    }

    private func settle(_ response: Response) async throws(RequestError) -> Response {
        if let expected = plan.sha256?.lowercased() {
            let found = try await file.digest()
            guard found == expected else {
                throw RequestError(
                    .digestMismatch, stage: .validate,
                    "The file that came has SHA-256 \(found), expected was \(expected). It was thrown "
                        + "away; check the digest, or whether the server has another version.")
            }
        }
        // The last moment at which cancelling means that there is no file.
        try exchange.scope.check()
        var response = response
        response.body = .file(try await file.finish(plan.existingFile))
        return response
    }
}
