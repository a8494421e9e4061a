package import ErrandDownload
package import ErrandTransport
package import Foundation
import Synchronization

/// Writes the body of a response to a part file, if the response head permits it.
package final class FileSink: ResponseSink {
    private let file: PartFile
    private let start: DownloadStart
    private let url: String
    private let part: URL
    private let context: TaskContext
    private let plan: DownloadPlan
    private let decision = Mutex(Decision())

    private struct Decision {
        var action: DownloadResponseAction?
        var serverDigests: [DownloadedFile.Digest] = []
    }

    package init(
        _ file: PartFile, part: URL, start: DownloadStart, url: String, context: TaskContext,
        plan: DownloadPlan
    ) {
        self.file = file
        self.part = part
        self.start = start
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
            let journal = validator.map {
                DownloadJournal(
                    url: url, validator: $0, total: total, session: BootSession.current)
            }
            context.progress.updateAsynchronously {
                ($0.bytesReceived, $0.totalBytesToReceive) = (0, total)
            }
            return result(file.begin(journal, computing: expectations.algorithms))
        case .append(let offset, let total):
            context.emitAsynchronously(.resumed(offset: offset))
            context.progress.updateAsynchronously {
                ($0.bytesReceived, $0.totalBytesToReceive) = (offset, total)
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
        error.map { .failure($0) } ?? .success(.file(part))
    }

    private func result(_ failure: RequestError?) -> Result<Bool, RequestError> {
        failure.map { .failure($0) } ?? .success(true)
    }
}
