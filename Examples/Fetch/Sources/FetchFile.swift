import Errand
import Foundation

/// The download of one file.
final class FetchFile: BaseRequest, FileOutput {
    private let source: String
    private let file: URL
    private let existing: DownloadPlan.ExistingFile
    private let command: Fetch
    private let expected: DownloadedFile.Digest?

    /// - Parameters:
    ///   - source: The URL.
    ///   - file: The file, or the folder, where the response names the file.
    ///   - existing: What happens to a file that exists.
    ///   - expected: The digest of the file, if it is known.
    init(
        _ source: String, to file: URL, existing: DownloadPlan.ExistingFile, of command: Fetch,
        expected: DownloadedFile.Digest?
    ) {
        self.source = source
        self.file = file
        self.existing = existing
        self.command = command
        self.expected = expected
    }

    override var url: EndpointURL { EndpointURL(raw: source) }
    var download: DownloadPlan {
        .to(file) {
            $0.existingFile = existing
            $0.resumes = !command.noResume
            $0.segments = command.segments.maximum
            $0.minimumSegmentSize = command.segments.minimumSize
            $0.expectedDigests = expected.map { [$0] } ?? []
            $0.setsModificationTime = command.remoteTime
            $0.resumableURL = command.ignoreQuery ? .ignoringQuery : .identical
        }
    }
    override var retryPolicy: RetryPolicy? { RetryPolicy(maximumAttempts: command.attempts) }

    override var headers: HTTPFields {
        var fields = HTTPFields()
        for header in command.header {
            fields.append(HTTPField(name: header.name, value: header.value))
        }
        return fields
    }

}
