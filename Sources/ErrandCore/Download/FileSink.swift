package import ErrandDownload
package import ErrandTransport
import Foundation
import Synchronization

/// Writes the body of a response to a part file, if the response head permits it.
package final class FileSink: ResponseSink {
    private let file: PartFile
    private let start: DownloadStart
    private let resumedOffset: Int64
    private let url: URI
    private let context: TaskContext
    private let plan: DownloadPlan
    private let destination: DownloadDestination
    private let decision = Mutex(Decision())

    private struct Decision {
        var action: DownloadResponseAction?
        var serverDigests: [DownloadedFile.Digest] = []
        /// The URL of the last hop.
        var url: URI?
        var chosen = DownloadDestination.Choice()
    }

    package init(
        _ file: PartFile, _ destination: DownloadDestination, start: DownloadStart,
        resumedOffset: Int64, url: URI, context: TaskContext, plan: DownloadPlan
    ) {
        self.file = file
        self.destination = destination
        self.start = start
        self.resumedOffset = resumedOffset
        self.url = url
        self.context = context
        self.plan = plan
    }

    /// The action for the response head; `nil` before the head arrives.
    package var action: DownloadResponseAction? { decision.withLock { $0.action } }

    /// The digests to compute and to compare, with those of the response head.
    package var expectations: DigestExpectations {
        DigestExpectations(plan, server: decision.withLock { $0.serverDigests })
    }

    /// The name that the head gives to the file; empty if it decides none.
    package var chosen: DownloadDestination.Choice { decision.withLock { $0.chosen } }

    package func willSend(to url: URI) { decision.withLock { $0.url = url } }

    /// Chooses the name in a folder; an error if the policy for existing files ends the download.
    private func chooseName(_ headers: HTTPFields, isWhole: Bool) -> RequestError? {
        let chosen = destination.choose(
            headers, final: decision.withLock { $0.url } ?? url, requested: url,
            resumed: isWhole ? nil : file.journal?.name, plan.existingFile)
        decision.withLock { $0.chosen = chosen }
        return chosen.error
    }

    package func accept(_ head: ResponseHead) -> Result<Bool, RequestError> {
        let status = head.status.code
        var action = DownloadPlanner.action(
            status, head.headers, contentLength: head.contentLength, after: start)
        // A response that validation will reject must not replace the part file.
        if status < 300, !context.description.acceptsStatus(status) {
            action = .reject
        }
        if status < 300,
            !ResponseValidation.acceptsContentType(of: head, description: context.description)
        {
            action = .reject
        }
        let isWhole = if case .write = action { true } else { false }
        decision.withLock { decision in
            decision.action = action
            if status < 300 {
                decision.serverDigests = DigestFields.digests(in: head.headers, isWhole: isWhole)
            }
        }
        switch action {
        case .write(let total, let validator):
            if let error = chooseName(head.headers, isWhole: true)
                ?? file.shortage(total: total, keeping: 0)
            {
                return .failure(error)
            }
            let journal = validator.map {
                DownloadJournal(
                    url: url.string, validator: $0, total: total, session: BootSession.current,
                    name: chosen.name)
            }
            context.progress.updateAsynchronously {
                ($0.bytesReceived, $0.totalBytesToReceive, $0.resumedBytes) = (0, total, 0)
            }
            return result(file.begin(journal, computing: expectations.algorithms))
        case .append(let offset, let total):
            if let error = chooseName(head.headers, isWhole: false)
                ?? file.shortage(total: total, keeping: offset)
            {
                return .failure(error)
            }
            context.emitAsynchronously(.resumed(offset: offset))
            let resumed = resumedOffset
            context.progress.updateAsynchronously {
                ($0.bytesReceived, $0.totalBytesToReceive) = (offset, total)
                $0.resumedBytes = resumed
            }
            return result(file.resume(at: offset, total: total))
        case .settle, .reject:
            return .success(false)
        case .restart:
            return .failure(
                RequestError(
                    .resumeFailed, stage: .transport,
                    "The server's range does not match the part file. The download starts again from the beginning."
                ))
        case .refuse(let message):
            return .failure(RequestError(.badServerResponse, stage: .transport, message))
        }
    }

    package func write(_ bytes: UnsafeRawBufferPointer) -> RequestError? { file.append(bytes) }

    package func finish(_ error: RequestError?) -> Result<Response.Body, RequestError> {
        error.map { .failure($0) } ?? .success(.file(destination.part))
    }

    private func result(_ failure: RequestError?) -> Result<Bool, RequestError> {
        failure.map { .failure($0) } ?? .success(true)
    }
}
