package import Foundation
import Synchronization

/// Takes the bytes of one answer into a part file, if its head says that they belong there.
package final class FileSink: ResponseSink {
    private let file: PartFile
    private let start: DownloadStart
    private let url: String
    private let part: URL
    private let context: TaskContext
    private let verdict = Mutex<DownloadAnswer?>(nil)

    package init(
        _ file: PartFile, part: URL, start: DownloadStart, url: String, context: TaskContext
    ) {
        self.file = file
        self.part = part
        self.start = start
        self.url = url
        self.context = context
    }

    /// What the head was judged to be; `nil` before there was one.
    package var answer: DownloadAnswer? { verdict.withLock { $0 } }

    package func accept(_ head: ResponseHead) -> Result<Bool, RequestError> {
        let status = head.status.code
        var answer = DownloadPlanner.judge(
            status, head.headers, contentLength: head.contentLength, after: start)
        // What validation will not let pass must not replace what is there.
        if status < 300, !context.description.acceptsStatus(status) {
            answer = .reject
        }
        if status < 300,
            !ResponseValidation.acceptsContentType(of: head, description: context.description)
        {
            answer = .reject
        }
        verdict.withLock { $0 = answer }
        switch answer {
        case .write(let total, let validator):
            let journal = validator.map {
                DownloadJournal(
                    url: url, validator: $0, total: total, session: BootSession.current)
            }
            context.progress.updateElsewhere {
                ($0.bytesReceived, $0.totalBytesToReceive) = (0, total)
            }
            return result(file.begin(journal))
        case .append(let offset, let total):
            context.emitElsewhere(.resumed(offset: offset))
            context.progress.updateElsewhere {
                ($0.bytesReceived, $0.totalBytesToReceive) = (offset, total)
            }
            return result(file.resume(at: offset, total: total))
        case .settle, .reject:
            return .success(false)
        case .restart:
            return .failure(
                RequestError(
                    .resumeFailed, stage: .transport,
                    "The server's part does not fit what has come so far; all is asked for anew."))
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
